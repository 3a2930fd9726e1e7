"""The identity of the program's code: two programs of one version need not be the same."""

from __future__ import annotations

import hashlib
from functools import cache

from crdcompat.package_data import PACKAGE, data_dir
from crdcompat.version import __version__

_CODE = ("*.py", "*.json")
#: The data of an installed program is inside the package; a checkout has its data beside the package.
_DATA = ("_rules", "_fixtures")


@cache
def code_id() -> str:
    """The version, and a digest of all modules, schemas and rules of this program."""
    digest = hashlib.blake2b(digest_size=8)
    for top, patterns in ((PACKAGE, _CODE), (data_dir("rules"), ("*.yaml",))):
        for path in sorted({path for pattern in patterns for path in top.rglob(pattern)}):
            name = path.relative_to(top)
            if name.parts[0] not in _DATA:
                data = path.read_bytes()
                digest.update(f"{name.as_posix()} {len(data)}\0".encode() + data)
    return f"{__version__} {digest.hexdigest()}"

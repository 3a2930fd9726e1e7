"""The version of a distribution: the tag that it is built from. Hatch runs this file when it builds.

``v1.2.3`` is 1.2.3. Four commits after it, the version is ``1.2.4.dev4+g<commit>``. Without a tag, or without git, it
is a development version of the number in ``crdcompat/version.py``. An sdist keeps the version with which it was made.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_DESCRIBED = re.compile(r"v(\d+(?:\.\d+)*)\.(\d+)((?:a|b|rc)\d+)?-(\d+)-(g[0-9a-f]+)")


def version() -> str:
    """The version of the commit that is checked out here."""
    if _git("rev-parse", "--show-toplevel") != str(_HERE):  # perhaps a folder of another repository
        return f"{_number()}.dev0"
    described = _DESCRIBED.fullmatch(_git("describe", "--tags", "--long", "--match", "v[0-9]*"))
    if described is None:
        return f"{_number()}.dev{_git('rev-list', '--count', 'HEAD')}+g{_git('rev-parse', '--short', 'HEAD')}"
    start, last, pre, after, commit = described.groups("")
    if after == "0":
        return f"{start}.{last}{pre}"
    return f"{start}.{last}{pre}.dev{after}+{commit}" if pre else f"{start}.{int(last) + 1}.dev{after}+{commit}"


def _number() -> str:
    text = (_HERE / "crdcompat" / "version.py").read_text(encoding="utf-8")
    return text.partition('__version__ = "')[2].partition('"')[0]


def _git(*command: str) -> str:
    """What git prints; nothing where it fails or is not installed."""
    try:
        ran = subprocess.run(["git", "-C", str(_HERE), *command], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""

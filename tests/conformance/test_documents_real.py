"""Documents of a real release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.yaml.documents import Document, read_documents

if TYPE_CHECKING:
    from pathlib import Path


def test_recorded_objects(shared: Path) -> None:
    for path in sorted((shared / "data/recorded/oc-adm-upgrade").glob("*.yaml")):
        found = list(read_documents(path.read_bytes(), path.name))
        assert found and all(isinstance(one, Document) for one in found)

"""Where values stand in files of a real release."""

from __future__ import annotations

from pathlib import Path

from places import agree

from crdcompat.sources import open_source


def test_real_files(openshift_api: Path) -> None:
    tree = open_source("release-4.16", repo=str(openshift_api))
    entries = [entry for entry in tree.entries() if entry.path.endswith(".crd.yaml")]
    assert sum(agree(data, 40) for _, data in tree.read(entries[::4])) > 1500

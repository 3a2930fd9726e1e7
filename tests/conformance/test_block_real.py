"""The fast reader of YAML on real manifests and recorded objects: it reads nearly all, each as libyaml does."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from yaml_readers import by_block, by_libyaml, differing

from crdcompat.recordings.layouts import holds_objects
from crdcompat.sources import open_objects
from crdcompat.yaml.streams import yaml_pieces

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "2000"))


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[bytes]:
    """The YAML documents of a real must-gather and of the manifests beside it."""
    tree = open_objects(f"path:{shared / 'data/recorded/must-gather-4.18.tar.gz'}")
    texts = [data for entry, data in tree.stream(holds_objects) if entry.path.endswith(".yaml")]
    texts += [path.read_bytes() for path in sorted((shared / "reference").rglob("*.yaml"))]
    return [piece for text in texts for _, piece in yaml_pieces(text)]


def test_each_document_is_read_alike(recorded: list[bytes]) -> None:
    left, total = 0, 0
    for text in recorded:
        total += len(text)
        found = by_block(text)
        if found is None:
            left += len(text)
        else:
            assert found == by_libyaml(text), text[:200]
    assert left < total / 50


def test_mutations_are_read_alike(recorded: list[bytes]) -> None:
    short = [text for text in recorded if len(text) < 3000]
    wrong, read = differing(short, random.Random(7), CASES)
    assert wrong == []
    assert read > CASES // 10

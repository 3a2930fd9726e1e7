"""Symbolic links of a git tree: which files they add to it, and which links are not followed."""

from __future__ import annotations

import pytest

from crdcompat.sources.links import READ_ANYWAY, Unfollowed, linked_entries
from crdcompat.sources.tree import Entry

FILES = {path: Entry(path, f"oid of {path}") for path in ("a/b/x.yaml", "a/y.yaml", "ab/z.yaml")}


@pytest.mark.parametrize(
    ("link", "target"),
    [("top", "."), ("a/top", ".."), ("a/b/up", ".."), ("a/b/self", "."), ("a/b/here", "../b"), ("a/b/c/up", "../..")],
)
def test_a_link_to_a_folder_above_it_adds_nothing(link: str, target: str) -> None:
    """The files of that folder are read without it, and the link would lead through itself without end."""
    assert list(linked_entries(FILES, {link: target})) == [Unfollowed(link, READ_ANYWAY)]


def test_a_link_beside_a_folder_whose_name_begins_alike_adds_its_files() -> None:
    assert list(linked_entries(FILES, {"ab/link": "../a"})) == [
        Entry("ab/link/b/x.yaml", "oid of a/b/x.yaml"),
        Entry("ab/link/y.yaml", "oid of a/y.yaml"),
    ]

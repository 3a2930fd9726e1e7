"""No CRD of a real release is missed by the quick look."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from telltales import MARKS, searched_facts

from crdcompat.crds.reader import CrdReader
from crdcompat.prefilter.candidates import is_candidate
from crdcompat.prefilter.collect import collect_facts
from crdcompat.sources import open_source
from crdcompat.sources.git import GitTree


@pytest.mark.parametrize("release", ["4.12", "4.16"])
def test_every_crd_of_a_release(openshift_api: Path, release: str) -> None:
    """No file is missed, none is left open, and a search finds in each blob what reading it finds."""
    tree = open_source(f"release-{release}", repo=str(openshift_api))
    assert isinstance(tree, GitTree)
    searched = collect_facts([(tree, tree.entries())], MARKS, use_cache=False)()
    entries = [entry for entry in tree.entries() if is_candidate(entry.path)]
    assert len(entries) > 100
    for entry, data in tree.read(entries):
        found = searched[entry.oid]
        assert searched_facts(data) == found
        assert not found.may_hold_any
        for document in CrdReader().documents(tree, [entry]):
            assert found.may_hold({document.crd.plural}), entry.path


def test_a_search_that_fails_says_so(openshift_api: Path, tmp_path: Path) -> None:
    clone = tmp_path / "api"
    subprocess.run(["git", "clone", "--quiet", str(openshift_api), str(clone)], check=True)
    tree = open_source("release-4.16", repo=str(clone))
    assert isinstance(tree, GitTree)
    tree.entries()
    for pack in (clone / ".git/objects").rglob("pack-*"):
        pack.unlink()
    wait = collect_facts([(tree, tree.entries())], MARKS, use_cache=False)
    with pytest.raises(Exception, match="git grep failed"):
        wait()

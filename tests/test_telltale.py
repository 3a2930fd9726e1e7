"""What lines tell of the CRDs in a file: no CRD that is in it is missed, and little else is taken for one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from helpers import Json, crd, obj, root

from crdcompat.jobs import telltales as job
from crdcompat.manifests.contexts import CHANNEL, FEATURE_SET, PROFILE
from crdcompat.manifests.crdset import CrdReader
from crdcompat.manifests.dump import to_yaml
from crdcompat.manifests.lookout import may_hold_crds
from crdcompat.manifests.telltale import Telltale, telling_lines, told_by
from crdcompat.sources import open_source
from crdcompat.sources.git import GitTree
from crdcompat.sources.tree import EmptyTree, Entry

MARKS = (FEATURE_SET, PROFILE, CHANNEL)
WIDGETS = ("widgets", "example.com")


def told(text: str | bytes) -> Telltale:
    data = text if isinstance(text, bytes) else text.encode()
    return told_by(telling_lines(data, MARKS), MARKS)


@pytest.mark.parametrize(
    "text",
    [
        "group: example.com\nnames:\n  plural: widgets\n",
        "group: 'example.com' # ours\r\nnames:\r\n  plural: \"widgets\"\r\n",
        "spec: {group: example.com, names: {plural: widgets}}\n",
        '{"spec":{"group":"example.com","names":{"plural":"widgets","kind":"Widget"}}}',
        "names: {plural: widgets}\ngroup:\n  example.com\n",
        "? plural\n: x\nplural : widgets\n",
        "names: &n {plural: widgets}\ngroup: &g example.com\n",
    ],
)
def test_a_crd_is_seen(text: str) -> None:
    found = told(text)
    assert found.plurals == ["widgets"]
    assert found.may_hold([("gadgets", "example.com"), WIDGETS])
    assert not found.may_hold([("gadgets", "example.com")])
    assert not found.is_open


@pytest.mark.parametrize(
    "text",
    [
        "plural: *name\n",
        "plural: {{ .Values.plural }}\n",
        "plural: !!str widgets\n",
        "plural:\n  widgets\n",
        b"description: caf\xe9 plural: gadgets\n",
        "a: b\n".encode("utf-16"),
        '{"plural":"gadgets","' + FEATURE_SET + '":"Default","d":"' + "x" * 600 + '"}',
    ],
)
def test_what_cannot_be_told_may_be_any(text: str | bytes) -> None:
    assert told(text).may_hold([WIDGETS])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plural name of the group: a\n",
        'plural: ""\n',
        "f:plural: {}\n",
        "a-plural: widgets\n",
        "  the plural\n  of it\n",
    ],
)
def test_what_is_none(text: str) -> None:
    found = told(text)
    assert (found.plurals, found.is_open) == ([], False)


def test_one_group_less_than_plurals_may_be_any() -> None:
    one = "group: other.com\nnames: {plural: gadgets}\n"
    assert not told(one).may_hold([("gadgets", "example.com")])
    assert told(f'{one}---\n"group": "example.com"\nplural: widgets\n').may_hold([WIDGETS])


def test_lines_of_annotations_are_kept() -> None:
    note = f"    {PROFILE}hosted: 'true'"
    assert told(f"a:\n{note}\n{note}\nb: {CHANNEL}\n").notes == [note.strip(), f"b: {CHANNEL}"]


def test_as_it_is_written_by_tools() -> None:
    whole: Json = crd(root(spec=obj()), annotations={FEATURE_SET: "Default"})
    found = told(to_yaml(whole))
    assert (found.plurals, found.groups) == (["widgets"], ["example.com"])
    assert found.notes == [f"{FEATURE_SET}: Default"]


def _names(tree: GitTree, entry: Entry) -> list[tuple[str, str]]:
    plurals = (document.crd.name.partition(".") for document in CrdReader().documents(tree, [entry]))
    return [(plural, group) for plural, _, group in plurals]


@pytest.mark.parametrize("release", ["4.12", "4.16"])
def test_every_crd_of_a_release(openshift_api: Path, release: str) -> None:
    """No file is missed, hardly any is left open, and a search tells of each blob what reading it tells."""
    tree = open_source(f"release-{release}", repo=str(openshift_api))
    assert isinstance(tree, GitTree)
    searched = job.telltales((tree, tree), cached=False)()
    entries = [entry for entry in tree.entries() if may_hold_crds(entry.path)]
    assert len(entries) > 100
    for entry, data in tree.read(entries):
        assert told(data) == searched[entry.oid]
        for name in _names(tree, entry):
            assert searched[entry.oid].may_hold([name]), entry.path
            assert not searched[entry.oid].may_hold([(name[0], f"other.{name[1]}")])
    assert not [entry for entry in entries if searched[entry.oid].is_open]


def test_only_commits_are_searched() -> None:
    assert job.telltales((EmptyTree("nothing"), EmptyTree("nothing")), cached=False)() == {}


def test_a_search_that_fails_says_so(openshift_api: Path, tmp_path: Path) -> None:
    clone = tmp_path / "api"
    subprocess.run(["git", "clone", "--quiet", str(openshift_api), str(clone)], check=True)
    tree = open_source("release-4.16", repo=str(clone))
    assert isinstance(tree, GitTree)
    tree.entries()
    for pack in (clone / ".git/objects").rglob("pack-*"):
        pack.unlink()
    wait = job.telltales((tree, tree), cached=False)
    with pytest.raises(Exception, match="git grep failed"):
        wait()

"""No file in which Kubernetes reads a CRD is irrelevant to ``check``, however it is spelled.

CRDCOMPAT_SPELLINGS=20000 tries more of them than usual.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from changes import repository
from go_reader import NoReaderError, kinds, reader
from helpers import commit, git, run
from spellings import spelling

from crdcompat.prefilter.candidates import is_marked
from crdcompat.prefilter.facts import facts_of, relevant_lines

_CRDS = {(f"apiextensions.k8s.io/{version}", "CustomResourceDefinition") for version in ("v1", "v1beta1")}
_CASES = int(os.environ.get("CRDCOMPAT_SPELLINGS", "3000"))
_PLAIN = (b"CustomResourceDefinition", b"openAPIV3Schema", b"apiextensions.k8s.io")


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return reader()
    except NoReaderError as error:
        pytest.skip(str(error))


def _with_crds(program: Path, cases: list[bytes]) -> list[bytes]:
    return [data for data, found in zip(cases, kinds(program, cases), strict=True) if found & _CRDS]


@pytest.mark.parametrize("seed", [1, 2])
def test_no_spelling_hides_a_crd(program: Path, tmp_path: Path, seed: int) -> None:
    """Of a change that adds the files, ``check`` reports each as judged, or as not judged with a reason."""
    rng = random.Random(seed)
    crds = _with_crds(program, [spelling(rng) for _ in range(_CASES)])
    assert len(crds) > _CASES // 25
    assert sum(not any(word in data for word in _PLAIN) for data in crds) > len(crds) // 5  # a search finds nothing
    repo = repository(tmp_path)
    commit(repo, {"README": "a"})
    for number, data in enumerate(crds):
        (repo / f"{number}.yaml").write_bytes(data)
    commit(repo, {"README": "b"})
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    outcomes = {each["file"]: (each["outcome"], each["reason"]) for each in ran.report["files"]}
    hidden = [data for number, data in enumerate(crds) if outcomes.get(f"{number}.yaml", ("no-crd", ""))[0] == "no-crd"]
    assert hidden == []
    assert all(reason for outcome, reason in outcomes.values() if outcome == "not-judged")
    assert {outcome for outcome, _ in outcomes.values()} <= {"judged", "not-judged"}


def test_the_lines_of_a_file_show_that_it_may_hold_a_crd(program: Path) -> None:
    """Unchanged files are searched by lines; the plural is hidden, too."""
    rng = random.Random(3)
    crds = _with_crds(program, [spelling(rng) for _ in range(_CASES)])
    assert [data for data in crds if not is_marked(data)] == []
    facts = Counter(facts_of(relevant_lines(data, ()), ()).may_hold({"widgets"}) for data in crds if b"spec:" in data)
    assert facts[False] == 0


_HIDDEN: dict[str, Callable[[str], bytes]] = {
    "nel": lambda word: f'kind: "Custom\\\x85  {word[6:]}"\n'.encode(),
    "ls": lambda word: f'kind: "Custom\\\u2028{word[6:]}"\n'.encode(),
    "ps": lambda word: f'kind: "Custom\\\u2029{word[6:]}"\n'.encode(),
    "cr": lambda word: f'kind: "Custom\\\r{word[6:]}"\n'.encode(),
    "cr cr lf": lambda word: f'kind: "Custom\\\r\r\n  {word[6:]}"\n'.encode(),
    "tag": lambda _: b"kind: !!b%69nary Q3VzdG9tUmVzb3VyY2VEZWZpbml0aW9u\n",
    "whole tag": lambda _: b"kind: !<tag:yaml.org,2002:binary> Q3VzdG9tUmVzb3VyY2VEZWZpbml0aW9u\n",
}
_NAMES = b"spec: {group: example.com, names: {plural: widgets, kind: Widget}, versions: []}\n"
_WIDE = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: {names: {kind: Widget}}\n"


def _files() -> dict[str, bytes]:
    api = b'apiVersion: "apiextensions.k8s\\x2eio/v1"\n'
    made = {name: api + hide("CustomResourceDefinition") + _NAMES for name, hide in _HIDDEN.items()}
    return {**made, "utf-16": b"kind: A\napiVersion: v1\n---\n\xfe\xff" + _WIDE.encode("utf-16-be")}


@pytest.mark.parametrize("name", _files())
def test_spellings_by_hand(program: Path, tmp_path: Path, name: str) -> None:
    data = _files()[name]
    assert _with_crds(program, [data]) == [data]
    repo = repository(tmp_path)
    commit(repo, {"README": "a"})
    (repo / "w.yaml").write_bytes(data)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "b")
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", cwd=repo)
    (file,) = ran.report["files"]
    assert (ran.code, file["file"], file["outcome"], bool(file["reason"])) == (2, "w.yaml", "not-judged", True)

"""docs/semantics.md says what the code, the tests and the data say; comments cite pages and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from offline import PROJECT
from pages import anchors, names, rows
from rollback_stories import SERVERS, STORIES

from crdcompat.apiserver.server_versions import SINCE

PAGE = PROJECT / "docs/semantics.md"
_CITING = ("crdcompat/**/*.py", "rules/*.yaml", "tests/**/*.py", "tests/**/*.yaml", "benchmarks/*.py", "release/*.py")
#: A page of the project, and a heading of it.
_CITED = re.compile(r"\b((?:docs/|(?=CONTRIBUTING|README|SECURITY))[\w-]+\.md)(?:#([\w-]+))?")
#: Words that cite a document which the project does not have: "design, section 4", "row 7 of …", "reference 10.3".
_ELSEWHERE = re.compile(
    r"\bdesign,? \(?section|\breference,? (?:sections? )?\d|\bsections? \d|\brows? \d[\d, and to]* of\b|\bfacts? \d+\b"
    r"|\((?:row|fact)s? \d|rollback-truth(?=[,;.)]? )|kubernetes-semantics|shared/(?:design|reference)"
)
#: Quotations of pages that are not the project's: of another repository, and of a repository that a test makes.
_OTHERS = {"docs/user/reconciliation.md", "docs/broken.md"}
_FILES = sorted({path for pattern in _CITING for path in PROJECT.glob(pattern)} - {Path(__file__)})


def _text(path: Path) -> str:
    """The text of a file, with comments and docstrings of several lines as one line."""
    return re.sub(r"\s*\n\s*(?:#:?\s*)?", " ", path.read_text(encoding="utf-8"))


def test_what_is_cited_exists() -> None:
    missing = [
        (str(path.relative_to(PROJECT)), page, heading)
        for path in _FILES
        for page, heading in _CITED.findall(_text(path))
        if page not in _OTHERS and not _is_there(PROJECT / page, heading)
    ]
    assert missing == []


def _is_there(page: Path, heading: str) -> bool:
    return page.is_file() and (not heading or heading in anchors(page))


def test_nothing_cites_a_document_that_the_project_lacks() -> None:
    found = [(str(path.relative_to(PROJECT)), each) for path in _FILES for each in _ELSEWHERE.findall(_text(path))]
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["(design, section 4)", "reference section 3.7", "reference 10.1 and 8", "rows 14 and 15 of reference", "(row 80)",
     "rollback-truth, fact 7", "(section 3.4)"],
)  # fmt: skip
def test_such_a_citation_is_found(text: str) -> None:
    assert _ELSEWHERE.search(text)


def test_each_behaviour_is_listed_at_its_minor() -> None:
    listed = {name: minor for minor, behaviours in rows(PAGE, "Kubernetes", "behaviours") for name in names(behaviours)}
    assert listed == {name: f"1.{minor}" for name, minor in SINCE.items()}


def test_each_facet_has_a_row() -> None:
    listed = [name for cell, *_ in rows(PAGE, "facet", "rollback", "upgrade") for name in names(cell)]
    modules = [
        path.stem
        for folder in ("facets", "crd_facets")
        for path in (PROJECT / "crdcompat/compare" / folder).glob("[!_]*.py")
    ]
    assert sorted(listed) == sorted(modules)


def test_the_writes_after_a_rollback_are_those_of_the_stories() -> None:
    stories = {story["name"]: story for story in STORIES}
    table = rows(PAGE, "what the stored object breaks", "something else in status", "a label, a finalizer",
                 "something else in spec", "repaired by")  # fmt: skip
    assert len(table) > 12
    for name, *shown, repaired in table:
        story = stories[name]
        assert story["label"] == story["finalizer"], name
        assert shown == [_first(story[write]) for write in ("status", "label", "spec")], name
        assert repaired == _repair(story), name


def _first(letters: str) -> str:
    """The first servers that take a write, of Kubernetes and of OpenShift, if that is not built on the first."""
    if len(set(letters)) == 1:
        return {"o": "always", "X": "never"}[letters[0]]
    taken = [server for server, letter in zip(SERVERS, letters, strict=True) if letter == "o"]
    openshift = next(server for server in taken if server.startswith("openshift"))
    same = {"openshift-4.17"} if taken[0] in ("1.28", "1.30") else set()
    return taken[0] if openshift in same else f"{taken[0]}, OpenShift {openshift.removeprefix('openshift-')}"


def _repair(story: dict[str, str]) -> str:
    if "deadlock" in story:
        first = _first(story["deadlock"])
        return "nothing: deadlock" if first == "never" else f"nothing before {first}: deadlock"
    return {"main": "a main write", "status": "a status write"}.get(story.get("repair", ""), "none needed")

"""The program against answers that the Kubernetes libraries gave: every recorded verdict, every recorded pair."""

from __future__ import annotations

import gzip
import json
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import CONTEXT, Json, select, spawn, unpack

DATA = "data/conformance"


def _lines(path: Path) -> list[Json]:
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    with gzip.open(path) as lines:
        return [json.loads(line) for line in lines]


# -- verdicts.ndjson.gz ---------------------------------------------


@pytest.fixture(scope="module")
def asked(shared: Path) -> list[Json]:
    return _lines(shared / DATA / "verdicts.ndjson.gz")


@pytest.fixture(scope="module")
def answered(asked: list[Json], openshift_api: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """All requests as one NDJSON stream through the real command line."""
    folder = tmp_path_factory.mktemp("crds")
    for release in sorted({line["release"] for line in asked}):
        files = sorted({line["crd_file"] for line in asked if line["release"] == release})
        archive = folder / f"{release}.tar"
        command = ["git", "-C", openshift_api, "archive", "-o", archive, f"origin/release-{release}", *files]
        subprocess.run(command, check=True)
        with tarfile.open(archive) as tar:
            unpack(tar, folder / release)
    requests = (
        {
            "id": line["id"],
            "crd": f"{line['release']}/{line['crd_file']}",
            "version": line["version"],
            "op": line["op"],
            "kube": line["kube"],
            "ratcheting": line["ratcheting"],
            "old": line["old"],
            "new": line["new"],
        }
        for line in asked
    )
    stdin = "\n".join(map(json.dumps, requests)).encode()
    ran = spawn("judge", "--requests", "-", cwd=folder, stdin=stdin)
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


#: How the libraries of 1.35 and later write a value that they leave out of the message.
_LEFT_OUT: tuple[Any, ...] = ({}, "<value omitted>")


def _same_error(recorded: Json, given: Json) -> bool:
    if any(recorded[key] != given[key] for key in ("type", "field", "detail")):
        return False
    if "badValue" not in recorded or recorded["badValue"] in _LEFT_OUT:
        return True
    return json.dumps(recorded["badValue"], sort_keys=True) == json.dumps(given.get("value"), sort_keys=True)


def _same_errors(recorded: list[Json], given: list[Json]) -> bool:
    left = list(given)
    for error in recorded:
        found = next((candidate for candidate in left if _same_error(error, candidate)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def _parts(aggregate: str, texts: list[str]) -> tuple[str, Counter[str]]:
    """The head of an aggregate and its parts, which come in any order: cut along the single errors' texts."""
    head, _, body = aggregate.partition(" is invalid: ")
    if not body.startswith("["):
        return head, Counter([body] if body else [])
    body = body[1:-1]
    found: Counter[str] = Counter()
    known = sorted(set(texts), key=len, reverse=True)
    while body:
        part = next((text for text in known if body.startswith(text) and body[len(text) :][:2] in ("", ", ")), body)
        found[part] += 1
        body = body[len(part) + 2 :]
    return head, found


def test_every_request_is_answered_in_order(asked: list[Json], answered: list[Json]) -> None:
    assert [line["id"] for line in answered] == [line["id"] for line in asked]
    assert len(answered) == 3080
    assert not [line["id"] for line in answered if line["unknown"]]


def test_verdicts_agree(asked: list[Json], answered: list[Json]) -> None:
    wrong = [
        (line["id"], line["op"], line["kube"], line["errors"], answer["errors"])
        for line, answer in zip(asked, answered, strict=True)
        if not _same_errors(line["errors"], answer["errors"])
    ]
    assert not wrong, f"{len(wrong)} of {len(asked)}; the first: {wrong[0]}"


def test_results_agree(asked: list[Json], answered: list[Json]) -> None:
    wrong = [
        line["id"]
        for line, answer in zip(asked, answered, strict=True)
        if line.get("result") != answer["result"] or answer["accepted"] is not (not line["errors"])
    ]
    assert not wrong, f"{len(wrong)} of {len(asked)}: {wrong[:5]}"


def test_pruned_paths_agree(asked: list[Json], answered: list[Json]) -> None:
    wrong = [
        (line["id"], line["pruned_paths"], answer["pruned_paths"])
        for line, answer in zip(asked, answered, strict=True)
        if sorted(line["pruned_paths"]) != sorted(answer["pruned_paths"])
    ]
    assert not wrong, f"{len(wrong)} of {len(asked)}; the first: {wrong[0]}"


def test_aggregates_agree(asked: list[Json], answered: list[Json]) -> None:
    wrong = []
    for line, answer in zip(asked, answered, strict=True):
        texts = [error["text"] for error in answer["errors"]]
        if _parts(line["aggregate"], texts) != _parts(answer["aggregate"], texts):
            wrong.append((line["id"], line["aggregate"], answer["aggregate"]))
        # Errors are compared by their texts: the aggregate contains each of them.
        assert all(text in answer["aggregate"] for text in texts), line["id"]
    assert not wrong, f"{len(wrong)} of {len(asked)}; the first: {wrong[0]}"


# -- pairs-expected.json ---------------------------------------------


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[Json]:
    path = shared / DATA / "pairs-expected.json"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    found: list[Json] = json.loads(path.read_text())
    return found


def _findings(reports: dict[str, Json], row: Json) -> list[Json]:
    return select(
        reports[row["old_release"]],
        context=CONTEXT,
        direction=row["direction"],
        crd=row["crd_name"],
        version=row["version"],
    )


def _at_or_above(row: Json, finding: Json) -> bool:
    """The finding stands (or one of its places does) at the row's path or at the topmost new property above it."""
    paths = (finding["path"], *finding["places"])
    return any(row["path"] == path or row["path"].startswith((f"{path}.", f"{path}[")) for path in paths)


def _explained(reports: dict[str, Json], row: Json) -> bool:
    return any(
        _at_or_above(row, finding)
        and finding["effect"] == {"pruned": "value-pruned"}.get(row["type"], "value-defaulted")
        for finding in _findings(reports, row)
    )


def test_every_recorded_row_is_explained(rows: list[Json], reports: dict[str, Json]) -> None:
    """What the real validation code rejected, pruned or defaulted, in both directions, over four pairs: all of it."""
    assert len(rows) == 277
    assert not [row for row in rows if not any(_fits(row, finding) for finding in _findings(reports, row))]


def _fits(row: Json, finding: Json) -> bool:
    effect = {"pruned": "value-pruned", "defaulted": "value-defaulted"}.get(row["type"], "write-rejected")
    path = "" if row["path"] == "<nil>" else row["path"]
    if row["type"] == "FieldValueDuplicate":
        path = path.removesuffix("[*]")
    if finding["effect"] != effect:
        return False
    if effect == "value-pruned":
        return _at_or_above(row, finding)
    values = row.get("values", []) if row["direction"] == "rollback" else []
    return path in (finding["path"], *finding["places"]) and all(value in finding["added"] for value in values)


def _of(rows: list[Json], kind: str, direction: str) -> Iterator[Json]:
    return (row for row in rows if (row["type"], row["direction"]) == (kind, direction))


def test_every_recorded_enum_rejection_after_a_rollback_is_found(rows: list[Json], reports: dict[str, Json]) -> None:
    reported = list(_of(rows, "FieldValueNotSupported", "rollback"))
    assert len(reported) == 26
    missed = [
        row
        for row in reported
        if not any(
            row["path"] in (finding["path"], *finding["places"])
            and finding["effect"] == "write-rejected"
            and all(value in finding["added"] for value in row.get("values", []))
            for finding in _findings(reports, row)
        )
    ]
    assert not missed


def test_every_recorded_enum_rejection_after_an_upgrade_is_found(rows: list[Json], reports: dict[str, Json]) -> None:
    reported = list(_of(rows, "FieldValueNotSupported", "upgrade"))
    assert len(reported) == 4
    assert not [
        row
        for row in reported
        if not any(
            row["path"] in (f["path"], *f["places"]) and f["effect"] == "write-rejected"
            for f in _findings(reports, row)
        )
    ]


def test_no_enum_finding_beyond_what_was_recorded_or_has_a_witness(rows: list[Json], reports: dict[str, Json]) -> None:
    """The random objects did not meet everything; what they did not meet must prove itself."""
    recorded = {
        (row["old_release"], row["direction"], row["crd_name"], row["version"], row["path"])
        for row in rows
        if row["type"] == "FieldValueNotSupported"
    }
    for old, report in reports.items():
        for finding in select(report, context=CONTEXT, effect="write-rejected"):
            key = (old, *(finding[part] for part in ("direction", "crd", "version", "path")))
            proved = finding["witness"]["object"] is not None or not finding["rule"].startswith("enum-")
            assert key in recorded or proved, key


@pytest.mark.parametrize("direction", ["rollback", "upgrade"])
def test_every_recorded_loss_is_explained(rows: list[Json], reports: dict[str, Json], direction: str) -> None:
    reported = list(_of(rows, "pruned", direction))
    assert len(reported) == {"rollback": 110, "upgrade": 7}[direction]
    assert not [row for row in reported if not _explained(reports, row)]


def test_every_recorded_default_after_an_upgrade_is_explained(rows: list[Json], reports: dict[str, Json]) -> None:
    reported = list(_of(rows, "defaulted", "upgrade"))
    assert len(reported) == 16
    assert not [row for row in reported if not _explained(reports, row)]

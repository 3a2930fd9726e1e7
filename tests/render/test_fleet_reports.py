"""Reports on many clusters: duplicates, what is said in each format, hostile text, options, and real recordings."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import pytest
from fleets import MODES, cluster_version, gadget, gather, infrastructure, releases, uuid, widget
from helpers import Json, array, crd, obj, root, run, string, write
from markdown_it import MarkdownIt
from report_samples import HOSTILE

from crdcompat.render.escape import Style, finish


@pytest.fixture
def crds(tmp_path: Path) -> dict[str, Path]:
    return releases(tmp_path / "crds")


def _args(
    crds: dict[str, Path], fleet: Path, *more: str | Path, names: tuple[str, ...] = tuple(MODES)
) -> list[str | Path]:
    old, *targets, new = (f"path:{crds[name]}" for name in names)
    named = [part for target in targets for part in ("--target", target)]
    return ["simulate", old, new, *named, "--fleet", fleet, "--jobs", "1", *more]


def _report(crds: dict[str, Path], fleet: Path, *more: str | Path, code: int | None = None) -> Json:
    ran = run(*_args(crds, fleet, "--format", "json", *more))
    assert ran.code == code if code is not None else ran.code in (0, 1), ran.err or ran.out
    return ran.report


def test_two_recordings_of_one_cluster_are_one_cluster(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    gather(fleet / "1-before.tar.gz", widget("w", "A"), cluster_version(uuid(1), "4.15.9"))
    gather(fleet / "2-other.tar.gz", widget("w", "A"), cluster_version(uuid(2)))
    gather(fleet / "3-after.tar.gz", widget("w", "B"), widget("v", "B"), cluster_version(uuid(1)))
    for number in range(2):
        gather(fleet / f"{number}-anonymous.tar.gz", widget("w", "B"), cluster_version("xxxxxxxx-xxxx-xxxx"))
    report = _report(crds, fleet, code=1)
    reported = {tuple(Path(name).name for name in item["recordings"]): item for item in report["clusters"]}
    both = ("1-before.tar.gz", "3-after.tar.gz")
    assert set(reported) == {both, ("2-other.tar.gz",), ("0-anonymous.tar.gz",), ("1-anonymous.tar.gz",)}
    assert (reported[both]["id"], reported[both]["version"], reported[both]["objects"]) == (uuid(1), None, 3)
    # The cluster holds the objects of all its recordings.
    assert [item["verdict"] for item in reported[both]["targets"]] == ["clean", "clean", "blocked"]
    assert reported[both]["targets"][2]["objects"] == {"rejected": 2, "unknown": 0, "loses-data": 0, "accepted": 0}
    (finding,) = report["findings"]
    assert (finding["clusters"], finding["targets"][0]["objects"]) == (3, 4)
    assert report["summary"]["clusters"] == 4
    assert report["summary"]["recordings"] == {"read": 5, "unread": 0}
    out = run(*_args(crds, fleet)).out
    assert "note: 1 cluster has several recordings: those with the same clusterID are merged\n" in out
    assert f"{fleet}/1-before.tar.gz and 1 other recording: can go to" in out


def _counted(report: Json) -> Json:
    """All that counts clusters or objects, but the recordings and the examples."""
    clusters = [{key: item[key] for key in ("id", "objects", "outside", "targets")} for item in report["clusters"]]
    findings = [{key: value for key, value in item.items() if key != "example"} for item in report["findings"]]
    unjudged = [{key: value for key, value in item.items() if key != "example"} for item in report["unjudged"]]
    return {
        "objects": report["summary"]["objects"],
        "verdicts": report["summary"]["verdicts"],
        "clusters": sorted(clusters, key=lambda item: str(item["id"])),
        "findings": findings,
        "unjudged": unjudged,
    }


@pytest.mark.parametrize("seed", range(5))
def test_an_object_of_several_recordings_is_one(crds: dict[str, Path], tmp_path: Path, seed: int) -> None:
    """Recordings that share objects come to the same as one that holds them all."""
    chance = random.Random(seed)
    for number in range(3):
        reported = cluster_version(uuid(number))
        objects = [
            *(widget(f"w{name}", *chance.sample("ABCDZ", 2)) for name in range(8)),
            *(widget(f"x{name}", "A", extra="x") for name in range(4)),
            *(widget(f"y{name}", "B", size="no number") for name in range(3)),
            *(gadget(f"g{name}") for name in range(3)),
            *({**gadget(f"o{name}"), "kind": "Other"} for name in range(2)),
        ]
        parts = [chance.sample(objects, 12) for _ in range(3)]
        met = {item["metadata"]["uid"]: item for part in parts for item in part}
        for at, part in enumerate(parts):
            gather(tmp_path / "parts" / f"{number}-{at}.tar.gz", reported, *part)
        gather(tmp_path / "whole" / f"{number}.tar.gz", reported, *met.values())
    parts, whole = (_counted(_report(crds, tmp_path / name, code=1)) for name in ("parts", "whole"))
    assert parts == whole


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_object_of_two_states_has_the_worst_verdict(
    crds: dict[str, Path], tmp_path: Path, order: tuple[int, int]
) -> None:
    """Target by target, and with what it held in any of them."""
    states = (
        [widget("w", "C"), widget("v", "A", extra="x"), widget("u", "B"), gadget("g")],
        [widget("w", "A", extra="x"), widget("v", "A"), widget("u", "D"), gadget("g")],
    )
    for name, state in zip("ab", order, strict=True):
        gather(tmp_path / "fleet" / f"{name}.tar.gz", *states[state], cluster_version(uuid(1)))
    report = _report(crds, tmp_path / "fleet", code=1)
    (cluster,) = report["clusters"]
    assert (cluster["objects"], cluster["outside"]) == (5, 1)
    verdicts = [tuple(target["objects"].values()) for target in cluster["targets"]]
    # rejected, unknown, loses-data, accepted of w, v and u; from 4.14 on back 4.15's field is lost, and 4.13 has no
    # gadgets.
    assert verdicts == [(1, 0, 0, 3), (2, 0, 1, 1), (2, 0, 1, 0)]
    assert [target["unjudged_objects"] for target in cluster["targets"]] == [0, 0, 1]
    (finding,) = report["findings"]
    assert [(share["clusters"], share["objects"]) for share in finding["targets"]] == [(1, 1), (1, 2), (1, 2)]
    assert [[held["value"] for held in share["values"]] for share in finding["targets"]] == [
        ["D"],
        ["C", "D"],
        ["B", "C", "D"],
    ]


def test_the_same_names_in_other_clusters_are_other_objects(crds: dict[str, Path], tmp_path: Path) -> None:
    for name, cluster in (("a", uuid(1)), ("b", uuid(2)), ("c", "unreadable"), ("d", "unreadable")):
        gather(tmp_path / "fleet" / f"{name}.tar.gz", widget("w", "D"), cluster_version(cluster))
    report = _report(crds, tmp_path / "fleet", code=1)
    assert (report["summary"]["clusters"], report["summary"]["objects"]) == (4, 8)
    assert [share["objects"] for share in report["findings"][0]["targets"]] == [4, 4, 4]


def test_a_journal_keeps_objects_apart(crds: dict[str, Path], tmp_path: Path) -> None:
    for name in "ab":
        gather(tmp_path / "fleet" / f"{name}.tar.gz", widget("w", "D"), widget(name, "A"), cluster_version(uuid(1)))
    args = ("--resume", tmp_path / "journal")
    first = _report(crds, tmp_path / "fleet", *args)
    assert first["summary"]["objects"] == 4
    assert _report(crds, tmp_path / "fleet", *args) == first


def test_there_is_room_for_so_many_objects(
    crds: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is above is counted in each recording: memory is bounded, whatever a recording holds."""
    monkeypatch.setattr("crdcompat.features.fleet.deduplicate._MAX_OBJECTS", 2)
    for name in "ab":
        objects = (widget(f"w{number}", "A") for number in range(5))
        gather(tmp_path / "fleet" / f"{name}.tar.gz", *objects, cluster_version(uuid(1)))
    (cluster,) = _report(crds, tmp_path / "fleet", code=0)["clusters"]
    assert cluster["objects"] == 2 * 6 - 2


def test_a_row_for_each_cluster(crds: dict[str, Path], tmp_path: Path) -> None:
    """The worst first. A cell that a spreadsheet would run, and hidden characters, are shown as text."""
    fleet = tmp_path / "fleet"
    gather(fleet / "a.tar.gz", widget("w", "A"), cluster_version(uuid(1), "=1+1"), infrastructure("AWS"))
    gather(fleet / "b,\u202e.tar.gz", widget("w", "C"), cluster_version(uuid(2)))
    ran = run(*_args(crds, fleet, "--format", "csv"))
    targets = [f"path:{crds[name]}" for name in ("release-4.15", "release-4.14", "release-4.13")]
    columns = ["cluster", "id", "version", "platform", "recordings", "objects", "outside", "farthest", "blocked by"]
    blocked = ["1", "2", "1", targets[0], "Widget status.modes[*]", "clean", "blocked", "blocked"]
    assert list(csv.reader(ran.out.splitlines())) == [
        [*columns, *(f"to {target}" for target in targets)],
        [f"{fleet}/b,\\u202e.tar.gz", uuid(2), "4.16.3", "", *blocked],
        [f"{fleet}/a.tar.gz", uuid(1), "'=1+1", "AWS", "1", "3", "2", targets[2], "", "clean", "clean", "clean"],
    ]
    ran = run("diff", f"path:{crds['release-4.13']}", f"path:{crds['release-4.16']}", "--format", "csv")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("crdcompat: csv cannot show a comparison; what can: changelog, concise, ")


def test_targets_come_nearest_first_whatever_the_order(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = gather(tmp_path / "fleet" / "a.tar.gz", widget("w", "C")).parent
    orders = (tuple(MODES), ("release-4.15", "release-4.13", "release-4.14", "release-4.16"))
    reports = [run(*_args(crds, fleet, "--format", "json", names=names)).report for names in orders]
    assert reports[0]["targets"] == reports[1]["targets"]
    assert reports[0]["clusters"] == reports[1]["clusters"]
    assert [Path(item["name"]).name for item in reports[0]["targets"]] == [
        "release-4.15",
        "release-4.14",
        "release-4.13",
    ]


def test_targets_without_a_version_are_shown_as_given(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = gather(tmp_path / "fleet" / "a.tar.gz", widget("w", "C")).parent
    named = {}
    for name, new in (("release-4.13", "one"), ("release-4.14", "two"), ("release-4.16", "now")):
        named[new] = crds[name].rename(tmp_path / new)
    report = run(*_args(named, fleet, "--format", "json", "--kube-version", "1.26", names=("one", "two", "now"))).report
    assert [Path(item["name"]).name for item in report["targets"]] == ["one", "two"]
    assert [item["kubernetes"] for item in report["targets"]] == ["1.26", "1.26"]
    assert "not all targets have a version in their names: they keep the given order" in report["notes"]


def test_without_a_server_what_depends_on_it_is_unknown(crds: dict[str, Path], tmp_path: Path) -> None:
    """Status ratcheting lets the later servers accept: so no verdict of both; what all reject blocks."""
    fleet = gather(tmp_path / "fleet" / "a.tar.gz", widget("w", "D")).parent
    old, new = crds["release-4.15"].rename(tmp_path / "one"), crds["release-4.16"]
    report = run("simulate", f"path:{old}", f"path:{new}", "--fleet", fleet, "--jobs", "1", "--format", "json").report
    (cluster,) = report["clusters"]
    alone = run("simulate", f"path:{old}", f"path:{new}", "--objects", fleet / "a.tar.gz", "--format", "json").report
    assert cluster["targets"][0]["objects"] == alone["summary"]["verdicts"]


def test_an_upgrade(crds: dict[str, Path], tmp_path: Path) -> None:
    """Objects of the older release meet the newer one, which is the only target."""
    fleet = tmp_path / "fleet"
    gather(fleet / "a.tar.gz", widget("w", "B"))
    gather(fleet / "b.tar.gz", widget("w", "A"))
    narrower = crds["release-4.14"] / "widgets.yaml"
    narrower.write_text(narrower.read_text().replace("- A\n", ""))
    sides = (f"path:{crds['release-4.13']}", f"path:{crds['release-4.14']}")
    ran = run("simulate", *sides, "--upgrade", "--fleet", fleet, "--jobs", "1", "--format", "json")
    assert ran.code == 1
    assert [item["name"] for item in ran.report["targets"]] == [sides[1]]
    assert [item["targets"][0]["verdict"] for item in ran.report["clusters"]] == ["clean", "blocked"]
    (finding,) = ran.report["findings"]
    assert finding["targets"][0]["location"]["side"] == "new"
    text = run("simulate", *sides, "--upgrade", "--fleet", fleet, "--jobs", "1").out
    assert text.startswith(f"Upgrade {sides[0]} -> {sides[1]} replayed on 2 clusters (2 recordings, 2 objects)\n")


def test_text(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = tmp_path / "f"
    gather(fleet / "a.tar.gz", widget("w", "B"), cluster_version(uuid(1), "4.15.2"))
    gather(fleet / "b.tar.gz", widget("w", "C", extra="x"), gadget("g"))
    (fleet / "c.tar.gz").touch()
    ran = run(*_args(crds, fleet))
    new, p15, p14, p13 = (f"path:{crds[name]}" for name in reversed(MODES))
    assert ran.code == 2
    lines = ran.out.splitlines()
    hidden = "enum-value-added at widgets.example.com status.modes[*]"
    missed = f"{p13} has no CRD for it: its API answers 404 there"
    assert lines == [
        f"Rollback {new} -> {p15}, {p14}, {p13} replayed on 2 clusters (3 recordings, 4 objects)",
        f"  note: 1 of 2 clusters ran a release before {new}: judged as if that had written their objects",
        f"  note: to {p15}: 1 finding cannot show in objects of 4.15.2: {hidden}",
        f"  note: to {p14}: of 1 finding, those younger than 4.15.2 cannot show in its objects: {hidden}",
        f"  note: to {p13}: of 1 finding, those younger than 4.15.2 cannot show in its objects: {hidden}",
        "  note: 1 object of kinds that neither release defines: ignored",
        f"could not read {fleet}/c.tar.gz: holds no objects (c.tar.gz: not recorded: empty)",
        "",
        "What blocks, by field",
        '  2 of 2 clusters: widgets.example.com status.modes[*] holds "B" (1), "C" (1)',
        f"    rejected by {p14} at widgets.yaml:39:19 (1 cluster, 1 object)",
        f"    rejected by {p13} at widgets.yaml:39:19 (2 clusters, 2 objects)",
        "    take it out by a write to /status, or widen the CRD there",
        f"    e.g. Widget/default/w in {fleet}/a.tar.gz",
        "",
        "What was not judged",
        f"  1 of 2 clusters, to {p13}: 1 object: {missed}, e.g. Gadget/default/g in {fleet}/b.tar.gz",
        "",
        "Clusters, worst first",
        f"  {fleet}/b.tar.gz: can go to {p15}; not to {p14}, {p13} (Widget status.modes[*])",
        (
            f"  {fleet}/a.tar.gz (4.15.2): unknown for {p15} (it runs 4.15.2, and {p15} is not older); "
            f"can go to {p14}; not to {p13} (Widget status.modes[*])"
        ),
        "",
        f"{new} -> {p15}: UNKNOWN for 1, CLEAN for 1 of 2 clusters",
        f"{new} -> {p14}: BLOCKED for 1, CLEAN for 1 of 2 clusters",
        f"{new} -> {p13}: BLOCKED for 2 of 2 clusters",
        "  Widget  status.modes[*]",
        *finish([Style().clip(f'blocks 2 of 2 clusters: holds "B" (1), "C" (1); rejected by {p14}, {p13}', "    ")]),
        "Read 2 of 3 recordings with 4 objects, 1 could not be read.",
    ]
    quiet = run(*_args(crds, fleet, "-q")).out.splitlines()
    verdict = lines.index(f"{new} -> {p15}: UNKNOWN for 1, CLEAN for 1 of 2 clusters")
    assert quiet == [lines[0], *lines[6:14], *lines[verdict - 1 :]]
    verbose = run(*_args(crds, fleet, "-v")).out
    assert re.search(r'holds "B" \(1\), "C" \(1\)  [0-9a-f]{12}\n', verbose), "ids only with -v"


def test_many_clusters_are_cut_short(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = tmp_path / "f"
    for number in range(25):
        gather(fleet / f"{number:02}.tar.gz", widget("w", "D" if number == 24 else "A"))
    lines = run(*_args(crds, fleet)).out.splitlines()
    worst, others = (line for line in lines if line.startswith(f"  {fleet}"))
    assert worst.startswith(f"  {fleet}/24.tar.gz: not to")  # worst first
    assert others.startswith(f"  {fleet}/00.tar.gz, {fleet}/01.tar.gz, ")
    assert others.count(".tar.gz") == 19
    assert "  and 5 more (-v shows all)" in lines
    assert sum(line.startswith(f"  {fleet}") for line in run(*_args(crds, fleet, "-v")).out.splitlines()) == 25


def test_hostile_text_stays_text(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = tmp_path / "f"
    fleet.mkdir()
    long = "x" * 5_000
    free = crds["release-4.16"] / "widgets.yaml"
    write(free, crd(root(spec=obj(size={"type": "integer"}), status=obj(modes=array(string())))))
    for number, value in enumerate((*HOSTILE, long)):
        write(fleet / f"{number:02}.json", widget("w", value), {**widget(value, "A"), "kind": value})
    write(fleet / "\x1b[31m`<b>.json", widget("w", "A"))
    report = _report(crds, fleet)
    (finding,) = report["findings"]
    held = {item["value"]: item["clusters"] for item in finding["targets"][0]["values"]}
    assert finding["clusters"] == len(HOSTILE) + 1
    assert {len(value) for value in held if value.startswith('"xxx')} == {200}  # cut
    text = run(*_args(crds, fleet, "-v")).out
    assert not any(char in text for char in "\x1b\r\u202e\u2066\x00")
    page = run(*_args(crds, fleet, "--format", "markdown")).out
    assert len(page) < 65_536
    for token in MarkdownIt().parse(page):
        assert token.type in {
            "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "bullet_list_open",
            "bullet_list_close", "list_item_open", "list_item_close", "html_block", "fence",
        }, token.type  # fmt: skip
        if token.type == "html_block":
            assert "<script" not in token.content and "<img" not in token.content and "<b>" not in token.content
        for child in token.children or ():
            assert child.type in {"text", "code_inline", "strong_open", "strong_close", "softbreak"}, child


def test_formats_that_cannot_show_a_fleet(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = gather(tmp_path / "f" / "a.tar.gz", widget("w", "A")).parent
    for name in ("sarif", "junit", "gitlab", "github"):
        ran = run(*_args(crds, fleet, "--format", name))
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"crdcompat: {name} cannot show a fleet of clusters; what can: ")
        assert {"json", "markdown", "text"} <= set(ran.err.strip().rpartition(": ")[2].split(", "))


def test_under_github_actions_it_is_text(
    crds: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = gather(tmp_path / "f" / "a.tar.gz", widget("w", "A")).parent
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ran = run(*_args(crds, fleet))
    assert ran.code == 0
    assert ran.out.startswith("::stop-commands::")


@pytest.mark.parametrize(
    ("threshold", "modes", "more", "code"),
    [
        ("error", "D", {}, 1),
        ("never", "D", {}, 0),
        ("error", "A", {"extra": "x"}, 0),
        ("warning", "A", {"extra": "x"}, 1),
        ("undecided", "A", {"extra": "x"}, 1),
        ("info", "A", {}, 0),
    ],
)
def test_exit_codes(
    crds: dict[str, Path], tmp_path: Path, threshold: str, modes: str, more: dict[str, str], code: int
) -> None:
    fleet = gather(tmp_path / "f" / "a.tar.gz", widget("w", modes, **more)).parent
    assert run(*_args(crds, fleet, "--fail-on", threshold)).code == code


def test_unjudged_objects_are_unknown(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = gather(tmp_path / "f" / "a.tar.gz", widget("w", "A"), gadget("g")).parent
    assert [run(*_args(crds, fleet, *more)).code for more in ((), ("--fail-on", "undecided"))] == [2, 2]
    allowed = run(*_args(crds, fleet, "--allow-unknown"))
    assert (allowed.code, allowed.out.splitlines()[-1]) == (0, "UNKNOWN is allowed by --allow-unknown.")
    # Of one CRD alone, what is of another one plays no part.
    assert run(*_args(crds, fleet, "--fail-on", "undecided", "--crd", "widgets.example.com")).code == 0


def test_options_that_do_not_go_together(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet = str(gather(tmp_path / "f" / "a.tar.gz", widget("w", "A")))
    sides = (f"path:{crds['release-4.13']}", f"path:{crds['release-4.14']}")
    for options, part in (
        ([], "name what was recorded: --objects PATH of one cluster, or --fleet DIR of many"),
        (["--objects", fleet, "--fleet", fleet], "--objects has the recordings of one cluster, --fleet those of many"),
        (["--objects", fleet, "--jobs", "2"], "--resume, --output and --since go with --fleet"),
        (
            ["--objects", fleet, "--resume", "x"],
            "--resume, --output and --since go with --fleet",
        ),
        (
            ["--objects", fleet, "--target", "x"],
            "--resume, --output and --since go with --fleet",
        ),
        (["--fleet", fleet, "--upgrade", "--target", "x"], "does not go with --upgrade"),
    ):
        ran = run("simulate", *sides, *options)
        assert (ran.code, ran.out) == (2, "")
        assert part in ran.err
    assert run("simulate", *sides, "--fleet", fleet, "--jobs", "0").code == 2
    assert not (tmp_path / "x").exists()


# -- real recordings ---------------------------------------------

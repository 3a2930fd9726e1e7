"""The configuration and the waiver file: found, held against their schemas, shown, written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers import Json, both, commit, crd, git, load_yaml, obj, root, run, string, write
from msgspec.structs import replace

from crdcompat.config.configuration import Config
from crdcompat.config.configuration_file import find_config, read_config
from crdcompat.errors import ConfigError
from crdcompat.findings.waiver_file import add_waivers, entries_for, read_accepted
from crdcompat.models.finding import Acceptance

FINDING = {
    "severity": "error",
    "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
    "direction": "rollback", "added": ["B"], "removed": [], "places": [],
}  # fmt: skip
WAIVER = {**{key: FINDING[key] for key in ("crd", "version", "path", "rule", "direction")}, "reason": "known"}


def config(tmp_path: Path, text: str, name: str = ".crdcompat.yaml") -> Config:
    path = tmp_path / name
    path.write_text(text)
    return read_config(path)


_NUMBER = ':2: 4.10 is a number to YAML (4.1): write it in quotes, "4.10"'


# -- reading -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("basis: main\n", ":1: there is no key 'basis'; did you mean 'base'?"),
        ("zzz: 1\n", "there is no key 'zzz'; there are base, contexts"),
        ("\nrollback_targets: [4.10]\n", _NUMBER),
        ("rollback_targets:\n  4.10: [release-4.9]\n", _NUMBER),
        ("base: main\nfail_on: never ever\n", ":2: fail_on: never ever is not known here; did you mean never?"),
        ("rollback_targets: main\n", ":1: rollback_targets: a list or a map of keys is wanted here (Rel"),
        ("severities:\n  - {severity: error}\n  - {owners: spec, severity: info}\n", ":3: severities.1"),
        ("severities:\n  - {owners: spec, severity: info}\n", "did you mean 'owner'?"),
        ("base: [\n", ":2: not valid YAML"),
        ("base: a\nbase: b\n", ":2: duplicate key 'base'"),
        ("- base\n", "expected one mapping"),
        ("releases: {main: '1.31.2'}\n", "releases.main"),
        ("severities: [{rule: nope, severity: info}]\n", ":1: severities.0.rule: there is no rule 'nope'"),
    ],
)  # fmt: skip
def test_errors_name_the_line_and_the_way_out(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config(tmp_path, text)
    assert expected in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / ".crdcompat.yaml"))
    ran = run("config", "--config", tmp_path / ".crdcompat.yaml")
    assert (ran.code, ran.out) == (2, "")


def test_quoted_numbers_are_names(tmp_path: Path) -> None:
    found = config(tmp_path, 'rollback_targets:\n  "4.10": ["4.9"]\n')
    assert found.targets("4.10") == ("4.9",)
    assert found.targets("4.1") is None


def test_it_is_looked_for_upwards_but_not_above_the_repository(tmp_path: Path) -> None:
    below = tmp_path / "repo" / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / ".crdcompat.yaml").write_text("base: outside\n")
    git(tmp_path / "repo", "init", "--quiet")
    assert find_config(start=below) == Config()
    (tmp_path / "repo" / "pyproject.toml").write_text('[tool.crdcompat]\nbase = "toml"\n')
    assert find_config(start=below).base == "toml"
    (tmp_path / "repo" / "a" / "pyproject.toml").write_text('[tool.other]\nbase = "x"\n')
    (tmp_path / "repo" / "a" / ".crdcompat.yaml").write_text("base: yaml\n")
    assert find_config(start=below).base == "yaml"
    assert find_config(str(tmp_path / ".crdcompat.yaml")).base == "outside"
    with pytest.raises(ConfigError, match="there is no such configuration file"):
        find_config(str(tmp_path / "gone.yaml"))


def test_show_names_the_origin_of_each_value(tmp_path: Path) -> None:
    (tmp_path / ".crdcompat.yaml").write_text("base: main\n")
    lines = run("config", "--show", cwd=tmp_path).out.splitlines()
    assert f'base: "main"  # {tmp_path / ".crdcompat.yaml"}' in lines
    assert 'fail_on: "error"  # default' in lines
    assert run("config", cwd=tmp_path).out.splitlines()[0] == str(tmp_path / ".crdcompat.yaml")


@pytest.mark.parametrize("show", [(), ("--show",)], ids=["check", "show"])
def test_refs_that_are_not_there_are_noted(tmp_path: Path, show: tuple[str, ...]) -> None:
    text = "base: mian\nrollback_targets:\n  main: [release-1.1, release-9.9, gone, v1]\n  release-1.1: [release-9.9]\n"
    (tmp_path / ".crdcompat.yaml").write_text(text)

    def notes() -> list[str]:
        ran = run("config", *show, cwd=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        return [found[1] for line in ran.out.splitlines() if (found := re.match(r"(?:# )?note: (.*)", line))]

    assert notes() == []  # nothing is there to have refs
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, {})
    git(tmp_path, "branch", "release-1.1")
    git(tmp_path, "tag", "v1")
    where = f"in {tmp_path}"
    end = "the repository has no remote to fetch it from"
    targets = "rollback_targets: no branch, tag or commit"
    assert notes() == [
        f"base: no branch, tag or commit mian {where}; names like it: main; {end}",
        f"{targets} release-9.9 {where}; names like it: release-1.1; {end}",
        f"{targets} gone {where}; {end}",
    ]
    good = text.replace("mian", "main").replace("release-9.9", "refs/tags/v1").replace("gone, ", "")
    (tmp_path / ".crdcompat.yaml").write_text(good)
    assert notes() == []


# -- what it does -----------------------------------------------------------------------------


def sides(tmp_path: Path) -> tuple[Path, Path]:
    old, new = (
        crd(root(spec=obj(m=string(*mode)), status=obj(p=string(*phase))))
        for mode, phase in ((("A",), ("A",)), (("A", "B"), ("A", "B")))
    )
    return both(tmp_path, old, new)


def diff(tmp_path: Path, text: str, *args: str) -> Json:
    old, new = sides(tmp_path)
    (tmp_path / ".crdcompat.yaml").write_text(text)
    return run("diff", old, new, *args, "--format", "json", cwd=tmp_path).report


def severities(report: Json) -> dict[str, str]:
    return {finding["path"]: finding["severity"] for finding in report["findings"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"status.p": "error", "spec.m": "warning"}),
        ("severities: [{owner: spec, severity: error}]", {"status.p": "error", "spec.m": "error"}),
        ("severities: [{path: 'spec.l[*]', severity: info}]", {"status.p": "error", "spec.m": "warning"}),
        ("severities: [{path: status.*, severity: info}]", {"status.p": "info", "spec.m": "warning"}),
        ("severities: [{direction: upgrade, severity: info}]", {"status.p": "error", "spec.m": "warning"}),
        (
            "severities: [{rule: enum-value-added, owner: spec, severity: info}, {severity: error}]",
            {"status.p": "error", "spec.m": "info"},
        ),
    ],
)
def test_severities(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    assert severities(diff(tmp_path, text)) == expected


def test_options_count_over_the_configuration(tmp_path: Path) -> None:
    old, new = sides(tmp_path)
    (tmp_path / ".crdcompat.yaml").write_text("fail_on: never\nformats: [concise]\n")
    ran = run("diff", old, new, cwd=tmp_path)
    assert ran.code == 0
    assert all(re.match(r"\S+:\d+:\d+: \w+\[", line) for line in ran.out.splitlines()) and ran.out
    ran = run("diff", old, new, "--fail-on", "error", "--format", "text", cwd=tmp_path)
    assert ran.code == 1
    assert "error[enum-value-added]" in ran.out


def test_recordings_as_evidence_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    old, new = sides(tmp_path)
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    write(tmp_path / "recorded" / "o.json", {**body, "spec": {"m": "B"}})
    (tmp_path / ".crdcompat.yaml").write_text("objects: [recorded/o.json]\n")
    (tmp_path / "below").mkdir()
    report = run(
        "diff", old, new, "--config", tmp_path / ".crdcompat.yaml", "--format", "json", cwd=tmp_path / "below"
    ).report
    met = {f["path"]: (f["severity"], f["evidence"]["recorded_objects"]) for f in report["findings"]}
    assert met == {"spec.m": ("error", 1), "status.p": ("error", 0)}


def test_files_left_out(tmp_path: Path) -> None:
    old, new = sides(tmp_path)
    for side in (old, new):
        write(side / "more" / "gadget.yaml", crd(root(spec=obj(a=string())), kind="Gadget"))
    for text, names in (
        ("include: ['more/*']", ["gadgets.example.com"]),
        ("exclude: ['*gadget*']", ["widgets.example.com"]),
        ("{}", ["gadgets.example.com", "widgets.example.com"]),
    ):
        (tmp_path / ".crdcompat.yaml").write_text(text)
        report = run("diff", old, new, "--format", "json", cwd=tmp_path).report
        assert report["summary"]["crds"]["old"] == len(names)


def test_the_release_table_decides_the_server(tmp_path: Path) -> None:
    old, new = sides(tmp_path)
    (tmp_path / ".crdcompat.yaml").write_text(json.dumps({"releases": {str(old): "1.27", str(new): "openshift-4.18"}}))
    report = run("diff", old, new, "--format", "json", cwd=tmp_path).report
    assert (report["old"]["kubernetes"], report["new"]["kubernetes"]) == ("1.27", "1.31")


def test_configured_annotations_distinguish_variants(tmp_path: Path) -> None:
    for name, phases in (("old", ("A",)), ("new", ("A", "B"))):
        for flavour in ("small", "large"):
            made = crd(root(status=obj(p=string(*(phases if flavour == "large" else ("A",))))))
            made["metadata"]["annotations"] = {"example.com/flavour": flavour}
            write(tmp_path / name / f"{flavour}.yaml", made)
    (tmp_path / ".crdcompat.yaml").write_text("variant_annotations: [example.com/flavour]\n")
    report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json", cwd=tmp_path).report
    (finding,) = report["findings"]
    assert finding["contexts"] == ["large"]
    assert report["summary"]["contexts"] == ["large", "small"]


def test_a_preset_by_hand(tmp_path: Path) -> None:
    for name in ("old", "new"):
        made = crd(root(status=obj(p=string("A"))))
        made["metadata"]["annotations"] = {"release.openshift.io/feature-set": "TechPreviewNoUpgrade"}
        write(tmp_path / name / "w.yaml", made)
    counted = []
    for text in ("{}", "preset: plain", "preset: gateway-api"):
        (tmp_path / ".crdcompat.yaml").write_text(text)
        report = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json", cwd=tmp_path).report
        counted.append(report["summary"]["contexts"])
    assert counted == [["TechPreviewNoUpgrade/default"], ["default"], ["default"]]


# -- waivers ------------------------------------------------------------------------------


def test_waivers_are_added_with_comments_and_order_kept(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    flow = "{crd: a, version: v1, path: b, rule: type-changed, direction: upgrade, old: x, new: y, reason: old}"
    text = f"# why we have these\nwaivers:\n  # the first\n  - {flow}\n"
    path.write_text(text)
    accepted = Acceptance("known", owner="me", until="4.17")
    assert add_waivers(path, entries_for(FINDING, accepted)) == 1
    assert path.read_text().startswith(text)
    assert load_yaml(path.read_text())["waivers"][1] == {
        **WAIVER,
        "values": ["B"],
        "severity": "error",
        "owner": "me",
        "until": "4.17",
    }
    assert add_waivers(path, entries_for(FINDING, accepted)) == 0
    assert add_waivers(path, entries_for({**FINDING, "added": ["C"]}, accepted)) == 1
    assert len(read_accepted(path).waivers) == 3


def _block(column: int) -> str:
    """An entry in lines, whose dash stands at a column; with quotes, spaces and comments as nobody else writes them."""
    lines = (
        "crd: 'a'", 'version: "v1"', "path: b # where", "rule: type-changed", "direction:   upgrade", 'old: "on"',
        "new: 'off'", "reason: >-", "  it was", "  so",
    )  # fmt: skip
    return f"{' ' * column}- " + "".join(f"{line}\n{' ' * (column + 2)}" for line in lines).rstrip(" ")


_FLOW = "{crd: 'a', version: \"v1\", path: b, rule: type-changed, direction: upgrade, old: x, new: y, reason: old}"
_JSON = json.dumps({**WAIVER, "path": "status.q", "values": ["Q"]})
#: A file -> what stands before what is added, and after it; "" around what is left out.
_TEXTS = {
    "block": (f"waivers:\n{_block(0)}", ""),
    "an indent of its own": (f"waivers:\n{_block(5)}", ""),
    "comments": (f"# ours\nwaivers: # these\n  # the first\n\n{_block(2)}", ""),
    "comments below": (f"waivers:\n{_block(0)}\n# the end\n  # of it\n\n", ""),
    "no last line end": (f"waivers:\n- {_FLOW}", ""),
    "windows": (f"# ours\r\nwaivers:\r\n  - {_FLOW}\r\n# end\r\n", ""),
    "a byte order mark": (f"\ufeffwaivers:\n  - {_FLOW}\n", ""),
    "an end of its own": (f"---\nwaivers:\n  - {_FLOW}\n# end\n", "...\n# after\n"),
    "comments alone": ("# für uns\n", ""),
    "a start alone": ("---\n# none yet\n", ""),
    "in brackets": (f"waivers: [{_FLOW}", "] # all\n"),
    "in brackets, a line each": (f"waivers: [\n  {_FLOW}, # one\n  {_FLOW}", ", # two\n] # all\n"),
    "in empty brackets with a word": ("waivers: [", " # none yet\n  ]\n"),
    "in braces": (f"{{waivers: [{_FLOW}", "]}\n"),
    "empty braces": ("# ours\n{", "}\n# end\n"),
    "JSON": (f'{{"waivers": [{_JSON}', "]}\n"),
    "JSON, a line each": (f'{{\n  "waivers": [\n    {_JSON}', "\n  ]\n}\n"),
    "JSON without any": ('{"waivers": [', "]}"),
}


@pytest.mark.parametrize("name", _TEXTS)
def test_every_byte_of_a_waiver_file_stays(tmp_path: Path, name: str) -> None:
    before, after = (part.encode() for part in _TEXTS[name])
    path = tmp_path / "w.yaml"
    path.write_bytes(before + after)
    known = read_accepted(path).waivers
    finding = {**FINDING, "added": ["on", "ü", "😀", "a\u2028b", "  c: [d], #e\n\nf"]}
    assert add_waivers(path, entries_for(finding, Acceptance("für\nuns: [alle] # hier"))) == 1
    written = path.read_bytes()
    assert written.startswith(before)
    assert written.endswith(after)
    assert (b"\r" in written, re.search(rb"(?<!\r)\n", written) is None) == (name == "windows",) * 2 or "JSON" in name
    *first, last = read_accepted(path).waivers
    assert [repr(replace(each, line=0)) for each in first] == [repr(replace(each, line=0)) for each in known]
    assert (last.values, last.reason) == (tuple(finding["added"]), "für\nuns: [alle] # hier")
    assert add_waivers(path, entries_for({**FINDING, "added": ["Z"]}, Acceptance("x"))) == 1
    assert [each.values for each in read_accepted(path).waivers[len(known) :]] == [tuple(finding["added"]), ("Z",)]
    if name.startswith("JSON"):
        assert len(json.loads(path.read_bytes())["waivers"]) == len(known) + 2


@pytest.mark.parametrize("tail", ["\n", "  # none yet\n", " \n# end\n", ""])
def test_an_empty_list_gives_way_to_lines(tmp_path: Path, tail: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(f"# ours\nwaivers: []{tail}")
    assert add_waivers(path, entries_for(FINDING, Acceptance("x"))) == 1
    rest = f"# ours\nwaivers:{tail}"
    assert path.read_text().startswith(rest if rest.endswith("\n") else f"{rest}\n")
    assert path.read_text().splitlines()[-9].startswith("  - crd: ")
    assert len(read_accepted(path).waivers) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_that_is_not_in_utf8_is_not_added_to(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_bytes("# für uns\nwaivers: []\n".encode(encoding))
    before = path.read_bytes()
    with pytest.raises(ConfigError):
        add_waivers(path, entries_for(FINDING, Acceptance("x")))
    assert path.read_bytes() == before


def test_a_file_that_ends_in_an_alias_is_not_added_to(tmp_path: Path) -> None:
    """An alias has the place of its anchor."""
    path = tmp_path / "w.yaml"
    text = f"waivers: [&one {_FLOW}, *one]\n"
    path.write_text(text)
    with pytest.raises(ConfigError, match="nothing can be added to this form: write the waivers as a plain list"):
        add_waivers(path, entries_for(FINDING, Acceptance("x")))
    assert path.read_text() == text


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    """`on` and `1.5` are no texts to the YAML that Kubernetes reads, unless they are quoted."""
    values = ["on", "No", "y", "1.5", "0x10", "a\u0085b", "null", 1.5, 2, True]
    path = tmp_path / "w.yaml"
    assert add_waivers(path, entries_for({**FINDING, "added": values}, Acceptance("x"))) == 1
    (waiver,) = read_accepted(path).waivers
    assert waiver.values == tuple(values)
    assert [*map(type, waiver.values or ())] == [*map(type, values)]


def test_keys_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    default = {"on": True, "y": 1, "010": None}
    finding = {**FINDING, "rule": "default-added", "added": [], "old": None, "new": default}
    assert add_waivers(path, entries_for(finding, Acceptance("x"))) == 1
    (waiver,) = read_accepted(path).waivers
    assert (waiver.old, waiver.new) == (None, default)


def test_a_file_of_two_documents_is_not_added_to(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("---\nwaivers: []\n---\n")
    with pytest.raises(ConfigError, match="leave one document in it"):
        add_waivers(path, entries_for(FINDING, Acceptance("x")))


def test_each_place_has_its_own_values(tmp_path: Path) -> None:
    """A waiver of one place does not accept another place, although one finding lists both."""
    old, new = (crd(root(status=obj(p=obj(s=string(*v)), q=obj(s=string(*v))))) for v in (("A",), ("A", "B", "C")))
    both(tmp_path, old, new)

    def errors(p: str, q: str) -> list[list[str]]:
        entries = [{**WAIVER, "path": f"status.{name}.s", "values": [*values]} for name, values in (("p", p), ("q", q))]
        (tmp_path / ".crdcompat-waivers.yaml").write_text(json.dumps({"waivers": entries}))
        report = run("diff", "./old", "./new", "--format", "json", cwd=tmp_path).report
        return [finding["added"] for finding in report["findings"] if finding["waiver"] is None]

    assert errors("BC", "BC") == []
    assert errors("BC", "B") == [["C"]]
    assert errors("B", "C") == [["B", "C"]]


def test_an_expired_waiver_can_be_renewed_and_comments_alone_stay(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("# ours\n")
    assert add_waivers(path, entries_for(FINDING, Acceptance("x", until="2020-01-01"))) == 1
    assert add_waivers(path, [*entries_for(FINDING, Acceptance("x", until="2099-01-01"))] * 2) == 1
    assert path.read_text().startswith("# ours\n")
    assert [waiver.until for waiver in read_accepted(path).waivers] == ["2020-01-01", "2099-01-01"]


@pytest.mark.parametrize(("reason", "until"), [("", ""), ("x", "soon"), ("x", "2026-02-30")])
def test_nothing_is_written_that_could_not_be_read(tmp_path: Path, reason: str, until: str) -> None:
    path = tmp_path / "w.yaml"
    with pytest.raises(ConfigError):
        add_waivers(path, entries_for(FINDING, Acceptance(reason, until=until)))
    assert not path.exists()


def test_a_finding_of_several_places_is_waived_place_by_place(tmp_path: Path) -> None:
    old, new = (crd(root(spec=obj(**{n: obj(m=string(*v)) for n in "abc"}))) for v in (("A",), ("A", "B")))
    both(tmp_path, old, new)
    report = run("diff", "./old", "./new", "--format", "json", cwd=tmp_path).report
    (finding,) = report["findings"]
    assert finding["places"] == ["spec.b.m", "spec.c.m"]
    (tmp_path / "r.json").write_text(json.dumps(report))
    assert run("waive", finding["id"], "--reason", "x", "--report", "r.json", cwd=tmp_path).out.endswith(
        "3 waivers written\n"
    )
    assert "1 waived" in run("diff", "./old", "./new", cwd=tmp_path).out
    text = (tmp_path / ".crdcompat-waivers.yaml").read_text()
    (tmp_path / ".crdcompat-waivers.yaml").write_text(text.replace("spec.b.m", "spec.z.m"))
    assert " waived" not in run("diff", "./old", "./new", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"reason": " "}, "waivers.0.reason"),
        ({"rule": "no-such"}, "there is no rule 'no-such'"),
        ({"until": "2026-02-30"}, "there is no day 2026-02-30"),
        ({"values": []}, "values: name those that are accepted"),
        ({"rule": "bounds-loosened", "old": 1}, "new: say what the keyword was and became"),
        ({"until": "soon"}, "'soon' is not a day (2027-01-31) or a release (4.17)"),
        ({"until": 4.17}, 'write it in quotes, "4.17"'),
        ({"directions": "rollback"}, "did you mean 'direction'?"),
    ],
)
def test_what_a_waiver_must_say(tmp_path: Path, change: Json, expected: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(json.dumps({"waivers": [{**WAIVER, "values": ["B"], **change}]}))
    with pytest.raises(ConfigError, match=r"w\.yaml:1: ") as raised:
        read_accepted(path)
    assert expected in str(raised.value)
    before = path.read_bytes()
    with pytest.raises(ConfigError):
        add_waivers(path, entries_for(FINDING, Acceptance("x")))
    assert path.read_bytes() == before


def test_diff_keeps_to_waivers_and_suggests_nothing_for_them(tmp_path: Path) -> None:
    old, new = sides(tmp_path)
    report = run("diff", old, new, "--format", "json", cwd=tmp_path).report
    (tmp_path / "r.json").write_text(json.dumps(report))
    status = next(finding for finding in report["findings"] if finding["path"] == "status.p")
    ran = run("waive", status["id"], "--reason", "fine", "--report", "r.json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    ran = run("diff", old, new, cwd=tmp_path)
    assert ran.code == 0
    assert "1 waived" in ran.out
    patch = run("diff", old, new, "--suggest-patch", cwd=tmp_path).out
    assert patch.count("@@ ") == 1
    assert "p:" not in [line for line in patch.splitlines() if line.startswith("+")]
    ran = run("waive", "000000000000", "--reason", "x", "--report", "r.json", cwd=tmp_path)
    assert ran.code == 2
    assert f"no finding 000000000000; there are {status['id']}" in ran.err or status["id"] in ran.err


def test_the_patch_leaves_out_the_values_that_are_waived(tmp_path: Path) -> None:
    old, new = both(tmp_path, *(crd(root(status=obj(p=string(*phases)))) for phases in (("A",), ("A", "B", "C"))))
    (tmp_path / ".crdcompat-waivers.yaml").write_text(json.dumps({"waivers": [{**WAIVER, "values": ["B"]}]}))
    patch = run("diff", old, new, "--suggest-patch", cwd=tmp_path).out
    added = [line[1:].strip(" -") for line in patch.splitlines() if line[0] == "+" and line[:3] != "+++"]
    assert added == ["C"]


# -- a first configuration ------------------------------------------------------------------


def test_init_says_where_it_writes_and_that_no_repository_is_there(tmp_path: Path) -> None:
    said = "note: there is no git repository around it: check needs one, and there was no branch to take targets from"
    assert run("init", cwd=tmp_path).out.splitlines() == [f"{tmp_path / '.crdcompat.yaml'} written", said]
    git(tmp_path, "init", "--quiet")
    (tmp_path / "below").mkdir()
    assert run("init", "--repo", "below", cwd=tmp_path).out == "below/.crdcompat.yaml written\n"


def test_init_writes_what_can_be_read_and_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path / "w.yaml", crd(root(spec=obj(a=string()))))
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "config", "user.email", "a@example.com")
    git(tmp_path, "config", "user.name", "A")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "--quiet", "-m", "a")
    for name in ("release-4.9", "release-4.10", "release-4.11"):
        git(tmp_path, "branch", name)
    write(tmp_path / "w.yaml", crd(root(spec=obj(b=string()))))
    git(tmp_path, "commit", "--quiet", "-am", "b")
    git(tmp_path, "branch", "release-4.12")  # has the files of main: nothing to go back to
    assert run("init", cwd=tmp_path).code == 0
    found = read_config(tmp_path / ".crdcompat.yaml")
    assert found.base == "main"
    assert found.targets("main") == ("release-4.11", "release-4.10")
    assert found.targets("release-4.10") == ("release-4.9",)
    assert run("init", cwd=tmp_path).code == 2
    assert run("init", "--force", cwd=tmp_path).code == 0
    # What stands behind a comment is right, too.
    examples = re.findall(r"^# (\w+: .*)$", (tmp_path / ".crdcompat.yaml").read_text(), re.MULTILINE)
    assert len(examples) > 8
    for example in examples:
        config(tmp_path, f"{example}\n", "one.yaml")


def _repository(folder: Path, tags: Sequence[str] = (), branches: Sequence[str] = ()) -> Path:
    """A repository with a commit per tag or branch, and one more on main."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number, name in enumerate((*tags, *branches, "")):
        commit(folder, {"w.yaml": crd(root(spec=obj(**{f"a{number}": string()})))})
        if name:
            git(folder, "tag" if name in tags else "branch", name)
    return folder


def test_init_proposes_the_newest_branches_alone(tmp_path: Path) -> None:
    names = [f"release-4.{minor}" for minor in range(1, 34)]
    assert run("init", cwd=_repository(tmp_path, branches=names)).code == 0
    assert read_config(tmp_path / ".crdcompat.yaml").values["rollback_targets"] == {
        "main": ["release-4.33", "release-4.32"],
        "release-4.33": ["release-4.32", "release-4.31"],
        "release-4.32": ["release-4.31", "release-4.30"],
        "release-4.31": ["release-4.30", "release-4.29"],
    }


def test_init_proposes_the_tags_of_the_newest_minors(tmp_path: Path) -> None:
    tags = ("v1.8.0", "v1.9.0", "v1.10.0", "v1.10.2", "v1.10.10", "v1.11.0", "v1.12.0-rc.1", "api/v3.0.0", "nightly")
    assert run("init", cwd=_repository(tmp_path, tags)).code == 0
    assert read_config(tmp_path / ".crdcompat.yaml").values["rollback_targets"] == ["v1.11.0", "v1.10.10", "v1.9.0"]


def test_init_proposes_no_release_from_before_the_first_crd(tmp_path: Path) -> None:
    """CRDs in ``vendor/`` are other projects'."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, {"vendor/w.yaml": crd(root())})
    git(tmp_path, "tag", "v1.0.0")
    assert run("init", cwd=_repository(tmp_path, ("v1.1.0", "v1.2.0"))).code == 0
    assert read_config(tmp_path / ".crdcompat.yaml").values["rollback_targets"] == ["v1.2.0", "v1.1.0"]


def test_init_proposes_a_tag_at_the_end_of_main(tmp_path: Path) -> None:
    """What comes next can be rolled back to it."""
    git(_repository(tmp_path, ("1.8.0", "1.9.0")), "tag", "--annotate", "--message", "now", "1.10")
    assert run("init", cwd=tmp_path).code == 0
    assert read_config(tmp_path / ".crdcompat.yaml").values["rollback_targets"] == ["1.10", "1.9.0", "1.8.0"]


@pytest.mark.parametrize(
    ("glob", "releases"),
    [
        ("v*", ["v1.8.0", "v1.10.10", "v1.11.0-rc.2"]),
        ("v1.1*", ["v1.10.10", "v1.11.0-rc.2"]),
        ("*", ["api/v1.8.1", "v1.8.0", "v1.10.10", "v1.11.0-rc.2"]),
    ],
)
def test_tags_are_releases_of_a_matrix(tmp_path: Path, glob: str, releases: list[str]) -> None:
    tags = (
        "v1.8.0-rc.1",
        "v1.8.0",
        "v1.10.0",
        "v1.10.2",
        "v1.10.10",
        "v1.11.0-rc.1",
        "v1.11.0-rc.2",
        "api/v1.8.1",
        "x",
    )
    ran = run("matrix", "--tags", glob, "--format", "json", cwd=_repository(tmp_path, tags))
    assert sorted(each["name"] for each in ran.report["releases"]) == sorted(releases)


def test_a_glob_that_matches_no_tag(tmp_path: Path) -> None:
    ran = run("matrix", "--tags", "v2.*", cwd=_repository(tmp_path, ("v1.8.0", "v1.9.0")))
    assert (ran.code, ran.out) == (2, "")
    assert "no tag with a version matches 'v2.*'; there are v1." in ran.err


@pytest.mark.parametrize(
    ("text", "kubernetes", "notes"),
    [
        ("", "1.26", []),
        ("preset: openshift\n", "1.26", []),
        ("preset: plain\n", None, ["nothing names the server of release-4.13 (configuration: releases, kubernetes)"]),
        ('preset: plain\nreleases: {release-4.13: "1.29"}\n', "1.29", []),
    ],
)
def test_a_release_4_13_of_another_project_is_none_of_openshift(
    tmp_path: Path, text: str, kubernetes: str | None, notes: list[str]
) -> None:
    repo = _repository(tmp_path, branches=["release-4.13"])
    write(tmp_path / ".crdcompat.yaml", text)
    ran = run("diff", "release-4.13", "main", "--format", "json", cwd=repo)
    assert (ran.report["old"]["kubernetes"], ran.report["old"]["notes"]) == (kubernetes, notes)
    checked = run("check", "--base", "release-4.13", "--head", "main", "--format", "json", cwd=repo)
    assert checked.report["sections"][0]["old"]["kubernetes"] == kubernetes


def test_json_that_is_no_yaml(tmp_path: Path) -> None:
    """JSON may write a character as two surrogates; the place of a number is then not known, and the number refused."""
    assert config(tmp_path, '{"base": "\\ud83d\\ude00"}').base == "\U0001f600"
    with pytest.raises(ConfigError, match=r"releases\.main: "):
        config(tmp_path, '{"base": "\\ud83d\\ude00", "releases": {"main": 1.31}}')

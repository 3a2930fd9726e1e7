"""No text of others reaches a terminal, a report or a web page with characters that steer, break lines or hide.

Each report is rendered after every text in it got such characters, whatever field holds it. ``CRDCOMPAT_FUZZ=20000``
(``make fuzz``) asks for more mixtures of characters; the mixtures are the same in every run.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import fleets
import pytest
import yaml
from changes import repository, widget
from helpers import commit, git, run
from msgspec import Struct
from msgspec.structs import replace
from report_samples import check, hostile_check, replayed, sample, unreadable

import crdcompat
from crdcompat.features.fleet.clusters_on_disk import StoredClusters
from crdcompat.models.fleet import ClusterVerdict
from crdcompat.models.release import Release
from crdcompat.models.report import AnyReport
from crdcompat.models.verification import Claim, Outcome, VerificationReport, VerifiedFinding
from crdcompat.render import write as writing
from crdcompat.render.escape import Style, columns_of, escape_lines, escape_text, finish, json_text, shortened
from crdcompat.render.formats import format_names
from crdcompat.render.markdown.markup import block

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "1000")) // 100
#: Control characters but line breaks, separators, bidirectional marks, invisible characters, tags, variation selectors
#: of plane 14, non-characters. Not read from the code under test.
HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\U0001fffe\U0010ffff\ud800-\udfff]"
)
CHARACTERS = [chr(code) for code in range(0x110000) if HIDDEN.match(chr(code)) and not 0xD800 <= code < 0xE000]
STRONG = [
    "\x1b[2J",
    "\x9b31m",
    "\r",
    "\u2028",
    "\u2029",
    "\u202e",
    "\u2066",
    "\U000e0041",
    "\U000e0001",
    "\x7f",
    "\ufeff",
]
MIXTURES = ["".join(STRONG), *("".join(random.Random(n).choices(CHARACTERS, k=40)) for n in range(CASES))]
#: What these fields hold are words of the program, which formats look up.
_WORDS = {"rule", "id", "status"}


def _poisoned(value: Any, text: str) -> Any:
    """The value with ``text`` in every text of others that it holds."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return f"{value}{text}"
    if isinstance(value, Struct):
        named = ((each, getattr(value, each)) for each in value.__struct_fields__)
        words = _WORDS | ({"findings"} if isinstance(value, ClusterVerdict) else set())  # ids
        return replace(value, **{name: _poisoned(held, text) for name, held in named if name not in words})
    if isinstance(value, StoredClusters):
        clusters = StoredClusters()
        for each in value:
            clusters.add(_poisoned(each, text))
        return clusters
    if isinstance(value, (tuple, list)):
        return type(value)(_poisoned(item, text) for item in value)
    if isinstance(value, dict):
        return {_poisoned(key, text): _poisoned(held, text) for key, held in value.items()}
    return value


@pytest.fixture
def capture(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AnyReport]:
    """A function that runs a command and returns its report as a value."""
    seen: list[AnyReport] = []

    def command(*args: str | Path) -> AnyReport:
        with monkeypatch.context() as patched:
            patched.setattr(writing, "_render", lambda _name, report, _style: seen.append(report) or "")
            ran = run(*args, "--format", "html")
        assert ran.code in (0, 1), ran.err
        return seen[-1]

    return command


def _verification() -> VerificationReport:
    claim = Claim(
        "0" * 12, "enum-value-added", "rollback", "write-rejected", "c", "v1", "p", ("default",), {"a": "b"},
        ("said",), ("p",), ("d",), "why", {"a": "c"},
    )  # fmt: skip
    found = tuple(VerifiedFinding(claim, outcome, "why", ("said",)) for outcome in Outcome)
    return VerificationReport("f", Release("a", None, None), Release("b", None, None), "context", "1.33", found)


_REPORTS: dict[str, Callable[[Path, Callable[..., AnyReport]], AnyReport]] = {
    "diff": lambda top, _: unreadable(sample(top)),
    "check": lambda top, _: check(top),
    "names": lambda top, _: hostile_check(top, "x"),
    "simulation": lambda top, _: replayed(top),
    "verify": lambda _top, _: _verification(),
    "matrix": lambda top, capture: capture("matrix", *(f"path:{each}" for each in fleets.releases(top).values())),
    "fleet": lambda top, capture: capture(*_fleet(top)),
}


def _fleet(top: Path) -> Iterator[str]:
    crds = fleets.releases(top / "crds")
    fleets.gather(top / "fleet/1.tar.gz", fleets.widget("w", "A", "D"), fleets.cluster_version(fleets.uuid(1)))
    old, target, *_, new = (f"path:{each}" for each in crds.values())
    yield from ("simulate", old, new, "--target", target, "--fleet", str(top / "fleet"), "--jobs", "1")


def _renderings(report: AnyReport) -> Iterator[tuple[str, str]]:
    for name in format_names():
        try:
            yield name, "".join(writing._render(name, report, Style(verbosity=1, existing=True)))
        except crdcompat.errors.UsageError:  # a format that cannot show this kind of report
            continue


@pytest.mark.parametrize("kind", _REPORTS)
def test_no_format_lets_a_hidden_character_out(tmp_path: Path, kind: str, capture: Callable[..., AnyReport]) -> None:
    report = _REPORTS[kind](tmp_path, capture)
    for text in MIXTURES:
        poisoned = _poisoned(report, text)
        shown = dict(_renderings(poisoned))
        assert {"text", "json"} <= set(shown)
        for name, out in shown.items():
            found = HIDDEN.search(out)
            assert found is None, (name, ascii(out[max(0, found.start() - 80) : found.end()]))
            if name == "junit":
                ET.fromstring(out)
            if name in ("json", "gitlab", "sarif"):
                json.loads(out)
        assert text in "\n".join(_texts(json.loads(shown["json"])))  # JSON escapes it and does not change it


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def test_colour_is_the_only_code_on_a_terminal(tmp_path: Path) -> None:
    report = _poisoned(sample(tmp_path), "".join(STRONG))
    out = "".join(writing._render("text", report, Style(colour=True, width=80)))
    assert "\x1b[1;31m" in out
    assert HIDDEN.search(re.sub(r"\x1b\[[0-9;]*m", "", out)) is None


# -- messages ---------------------------------------------


#: What git takes in the name of a branch.
_NAMES = ["b\x9b31m", "b\u2028b", "b\u202eb", "b\U000e0041"]


@pytest.mark.parametrize("name", _NAMES, ids=ascii)
def test_refs_and_configurations_are_shown_escaped(tmp_path: Path, name: str) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", name)
    commit(repo, {"w.yaml": widget("A", "B")})
    config = {
        "exclude": [name],
        "targets": [name, f"{name}x"],
        "kubernetes": {f"{name}*": "1.30"},
        "waivers": f"{name}.yaml",
    }
    (repo / ".crdcompat.yaml").write_text(yaml.safe_dump(config, allow_unicode=False))
    (repo / f"{name}.yaml").write_text("waivers: []\n")
    ran = partial(run, cwd=repo)
    outputs = [
        ran("config"),
        ran("config", "--show"),
        ran("diff", name, "main", "-v"),
        ran("diff", name, f"{name}x"),
        ran("diff", "main", name, "--suggest-patch"),
        ran("check", "--base", name),
        ran("check", "--base", name, "--format", "github"),
        ran("matrix", name, "main"),
        ran("explain", name),
        ran("judge", name, name),
        ran("waive", name, "--reason", name),
        ran("diff", name, f"--{name}"),
        ran(name),
        ran("diff", name, "main", "--format", name),
        ran("simulate", name, "main", "--objects", name),
    ]
    for output in outputs:
        found = HIDDEN.search(output.out + output.err)
        assert found is None, ascii(output)
    assert any(escape_text(name) in output.err for output in outputs)


def test_a_broken_configuration_is_quoted_escaped(tmp_path: Path) -> None:
    for text in ("a: '\u2028\U000e0041\x9b'", 'fail_on: "\\e[2J\\u202E"', '"\\e[2J": 1', "targets: [\x1b]"):
        (tmp_path / ".crdcompat.yaml").write_text(text + "\n")
        ran = run("config", cwd=tmp_path)
        assert ran.code == 2
        assert HIDDEN.search(ran.out + ran.err) is None, ascii(ran)


# -- the functions ---------------------------------------------


@pytest.mark.parametrize("text", CHARACTERS[:: max(1, 20_000 // CASES // 10)] + STRONG, ids=ascii)
def test_characters(text: str) -> None:
    for shown in (escape_text(text), escape_lines(text), json_text(text)):
        assert HIDDEN.search(shown) is None
        assert shown.isascii()
    assert json.loads(json_text({text: [text]})) == {text: [text]}


def test_what_is_escaped_is_readable() -> None:
    assert escape_text("a\x1b\x9b\u2028\U000e0041b\n") == r"a\x1b\x9b\u2028\U000e0041b\x0a"
    assert escape_lines("a\nb\r\tc") == "a\nb\\x0d\\x09c"
    assert json_text("\U000e0041\x7f\u2028") == r'"\udb40\udc41\u007f\u2028"'
    for plain in ("ü→…", "日本語", "👍", "a b", "\ue000"):
        assert escape_text(plain) == plain
        assert json_text(plain) == f'"{plain}"'


#: What writes to standard output or error: messages (``escape``), rendered reports (``write``, ``demo``), answers, a
#: patch, which has the bytes of its files (``diff``).
_EXITS = {
    "render/escape.py",
    "render/write.py",
    "cli/diff.py",
    "features/judge/one_write.py",
    "features/judge/batch.py",
}


def test_a_wide_character_takes_two_columns() -> None:
    words = "發行版 " * 40
    lines = [*finish([Style(width=60).fill(words)])]
    assert max(map(columns_of, lines)) <= 60 and "".join(lines).split() == words.split()
    assert columns_of(shortened(words, 30)) <= 30
    hostile = f"{'版' * 30}\ufdd0"
    assert r"\ufdd0" in "".join(finish([Style(width=60).wrap(hostile)]))


def test_a_block_of_a_comment_is_limited_in_bytes() -> None:
    limit = len(block("a" * 9_000).encode())
    assert len(block("版" * 9_000).encode()) <= limit


def test_text_leaves_the_program_in_few_places() -> None:
    top = Path(crdcompat.__file__).parent
    found = {str(file.relative_to(top)) for file in top.rglob("*.py") if _prints(ast.parse(file.read_text()))}
    assert found == _EXITS


def _prints(tree: ast.AST) -> bool:
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        ast.unparse(call) in ("print", "typer.echo", "typer.secho", "sys.stdout.write", "sys.stderr.write")
        or (ast.unparse(call).startswith("out.") and "write" in ast.unparse(call))
        for call in called
    )

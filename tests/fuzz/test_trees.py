"""Git trees that git itself would not make: odd modes and names, links, submodules, missing objects, great depth.

A change of a plain file beside them is never a pass, and no command ends but with an answer. The cases are the same in
every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) makes 1,000 of them.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from changes import repository, widget
from helpers import Json, run, spawn
from hostile import CASES, bounded, garbage, sound
from raw_git import Entry, commit, store, tree

_FILE, _FOLDER, _LINK, _MODULE = b"100644", b"40000", b"120000", b"160000"
_MODES = (
    _FILE, b"100755", b"100664", b"100600", b"100000", b"0100644", b"040000", _FOLDER, _LINK, _MODULE, b"0", b"777",
    b"140000", b"170000", b"644", b"100644 ",
)  # fmt: skip
_NAMES = (
    b"w.yaml", b"crds", b"-w.yaml", b"--help.yaml", b"\xff\xfe.yaml", "ü w.yaml".encode(), "u\u0308 w.yaml".encode(),
    b"\x1b[31mw.yaml", b"a\nb.yaml", b"a\tb.yaml", b'"a".yaml', b"a\\b.yaml", b":x.yaml", b"*.yaml", b"{a}.yaml", b"",
    b".", b"..", b".git", b".GIT", b"a/b.yaml", b"/etc/w.yaml", b"../w.yaml", b"x" * 255 + b".yaml",
    b"x" * 5_000 + b".yaml",
    b".gitattributes", b".gitmodules", b".crdcompat.yaml", b".crdcompat-waivers.yaml", b"kustomization.yaml",
    b"Chart.yaml", b"values.yaml", b"templates", b"vendor", b"CON.yaml", b"w.yaml ", b"w.YAML", b"w.json", b"w.tgz",
)  # fmt: skip
_TARGETS = (
    b"w.yaml", b"crds", b".", b"..", b"", b"/etc/passwd", b"/dev/zero", b"../" * 40 + b"etc/passwd", b"loop", b"a\x00b",
    b"x" * 5_000, b"\xff", b"crds/../crds/w.yaml", b".git/config", b"-", b"git:HEAD:w.yaml",
)  # fmt: skip
_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%064x\nsize %d\n"


def _blob(repo: Path, definition: Json, rng: random.Random) -> bytes:
    """The id of content of any kind."""
    text = json.dumps(definition).encode()
    match rng.randrange(9):
        case 0 | 1:
            return store(repo, "blob", text)
        case 2:
            return store(repo, "blob", _POINTER % (rng.getrandbits(200), rng.choice((0, 12345, 2**63))))
        case 3:
            return store(repo, "blob", rng.choice(_TARGETS))
        case 4:
            return rng.randbytes(20)  # of no object
        case 5:
            return store(repo, "blob", json.dumps(garbage(rng)).encode())
        case 6:
            return store(repo, "blob", rng.randbytes(rng.randrange(300)))
        case 7:
            return store(repo, "blob", b"---\n".join([text] * rng.choice((2, 30))))
        case _:
            return store(repo, "blob", text[: rng.randrange(len(text))])


def _odd(repo: Path, definition: Json, rng: random.Random, depth: int = 3) -> list[Entry]:
    """Some entries of a tree."""
    made: list[Entry] = []
    for _ in range(rng.randrange(1, 4)):
        mode, name = rng.choice((*_MODES, _FILE, _FILE, _LINK)), rng.choice(_NAMES)
        if mode.lstrip(b"0") == _FOLDER and depth and rng.random() < 0.8:
            found = tree(repo, _odd(repo, definition, rng, depth - 1))
        elif mode == _LINK:
            found = store(repo, "blob", rng.choice(_TARGETS))
        else:
            found = _blob(repo, definition, rng)
        made.append((mode, name, found))
    if rng.random() < 0.1:
        found = tree(repo, [(_FILE, b"w.yaml", _blob(repo, definition, rng))])
        for _ in range(rng.choice((30, 400))):
            found = tree(repo, [(_FOLDER, b"d", found)])
        made.append((_FOLDER, b"deep", found))
    return made if rng.random() < 0.5 else sorted(made, key=lambda entry: entry[1])


def _repository(tmp_path: Path, rng: random.Random, phases: tuple[str, str]) -> Path:
    """A change of a plain file (or none) and of odd entries beside it."""
    repo = repository(tmp_path)
    kept = _odd(repo, widget("A"), rng) if rng.random() < 0.5 else []
    parent: bytes | None = None
    for branch, phase in zip(("old", "main"), phases, strict=True):
        plain = store(repo, "blob", json.dumps(widget(*phase)).encode())
        odd = kept if rng.random() < 0.3 else [*kept, *_odd(repo, widget(*phase), rng)]
        config = tree(repo, [(_FILE, b"widget.yaml", plain)])
        parent = commit(repo, tree(repo, [*odd, (_FOLDER, b"zz-config", config)]), branch, parent)
    return repo


@pytest.mark.parametrize("seed", range(max(CASES // 20, 1)))
def test_hostile_git_trees(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    is_changed = rng.random() < 0.7
    repo = _repository(tmp_path, rng, ("A", "AB" if is_changed else "A"))
    runs = [
        ("diff", "git:old", "git:main", "--format", "json"),
        ("check", "--base", "old", "--format", "json"),
        rng.choice((("matrix", "git:old", "git:main"), ("config", "--show"), ("init",))),
    ]
    for command in runs:
        with bounded():
            ran = sound(run(*command, cwd=repo), (seed, command))
        assert not is_changed or command[0] not in ("diff", "check") or ran.code, (seed, command, ran.out[-2000:])
    if seed % 25 == 0:
        sound(spawn(*runs[1], cwd=repo), seed)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("mode", [_FILE, _LINK])
def test_a_tree_that_names_a_file_twice(tmp_path: Path, order: tuple[int, int], mode: bytes) -> None:
    """One of the two hides the other, and git's commands do not agree which one: neither is believed."""
    repo = repository(tmp_path)
    old, new = (store(repo, "blob", json.dumps(widget(*phases)).encode()) for phases in ("A", "AB"))
    twice = [(_FILE, b"w.yaml", new), (mode, b"w.yaml", old if mode == _FILE else store(repo, "blob", b"nowhere.yaml"))]
    parent = commit(repo, tree(repo, [(_FILE, b"w.yaml", old)]), "old")
    commit(repo, tree(repo, [twice[at] for at in order]), "main", parent)
    compared = run("diff", "git:old", "git:main", "--format", "json", cwd=repo)
    assert compared.code == 2
    (problem,) = {(each["file"], each["message"]) for each in compared.report["summary"]["problems"]} - {
        ("w.yaml", "symbolic link to nothing: not checked; replace the link with the file")
    }
    assert problem == (
        "w.yaml",
        "two files have this name: rename one whose name is not UTF-8, or mend the tree (git fsck)",
    )
    assert run("check", "--base", "old", cwd=repo).code in (1, 2)

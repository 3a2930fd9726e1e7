"""Hostile git trees: no crash, and a change that is hidden in one never ends with exit code 0.

Each case is a repository with a change of a status enum, wrapped in one or more disguises that a server, or git, sees
through. The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) makes 1,000 of them.
"""

from __future__ import annotations

import base64
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from changes import repository, widget
from helpers import Json, Run, git, run, write

CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "400")) // 20

#: File -> its bytes, or the target of a link.
_Tree = dict[str, bytes | Path]
_NAMES = (
    "crds/w.yaml",
    "config/crd/bases/w.yaml",
    "deploy/ü w.yaml",
    "a/b/c/d/w.yml",
    "w.json",
    "-w.yaml",
    "bundle/{w}.yaml",
)
_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%064x\nsize 12345\n"
_REFS = (
    "feat/ü", "v1.0^0", "HEAD~0",
    "refs/heads/main", "@", "", "-", "--all", "a..b", ":/x", "git:", "HEAD:w.yaml", "\x01",
    "ü" * 300, "@{-1}", "@{u}", "HEAD^{tree}",
)  # fmt: skip


def _text(definition: Json, rng: random.Random) -> str:
    """A manifest in one of the spellings of JSON and YAML."""
    text = json.dumps(definition, indent=rng.choice((None, 1, 4)))
    for word in rng.sample(("CustomResourceDefinition", "enum", "plural", "example.com", "status"), 2):
        if rng.random() < 0.3:
            text = text.replace(word, f"\\u{ord(word[0]):04x}{word[1:]}")
    return text


def _plain(text: str, rng: random.Random) -> bytes:
    return text.encode()


def _with_mark(text: str, rng: random.Random) -> bytes:
    return text.encode(rng.choice(("utf-8-sig", "utf-16", "utf-32")))


def _windows(text: str, rng: random.Random) -> bytes:
    return text.replace("\n", "\r\n").encode()


def _in_stream(text: str, rng: random.Random) -> bytes:
    other = rng.choice(("a: 1", "kind: ConfigMap\napiVersion: v1", "", "# {{ x }}", "- 1"))
    return f"---\n{other}\n---\n{text}\n---\n{other}\n...\n".encode()


def _in_list(text: str, rng: random.Random) -> bytes:
    inner = f'{{"apiVersion": "v1", "kind": "List", "items": [null, {text}]}}'
    return inner.encode() if rng.random() < 0.5 else f'{{"apiVersion":"v1","kind":"List","items":[{inner}]}}'.encode()


def _templated(text: str, rng: random.Random) -> bytes:
    around = rng.choice((("{{- if .Values.crds }}", "{{- end }}"), ("# {{ x }}", ""), ("", "{{ include 'x' . }}")))
    return f"{around[0]}\n{text}\n{around[1]}\n".encode()


def _damaged(text: str, rng: random.Random) -> bytes:
    kind = b"kind: CustomResourceDefinition\n"
    return kind + text.encode()[: rng.randrange(len(text))] + rng.choice((b"", b"\t", b"\xff", b"\n: }"))


_DISGUISES: tuple[Callable[[str, random.Random], bytes], ...] = (
    _plain, _plain, _with_mark, _windows, _in_stream, _in_list, _templated, _damaged,
)  # fmt: skip


def _bystanders(rng: random.Random) -> _Tree:
    """Files of no CRD, and links that lead nowhere of interest."""
    every: _Tree = {
        "README.md": b"kind: CustomResourceDefinition",
        "bytes.yaml": bytes(rng.randrange(256) for _ in range(200)),
        "big.png": _POINTER % 1,
        "docs/broken.md": Path("../nowhere"),
        "loop": Path("loop"),
        "self": Path(),
        "b64.yaml": b"data: " + base64.b64encode(b"kind: CustomResourceDefinition") + b"\n",
        "empty.yaml": b"",
    }
    return {name: every[name] for name in rng.sample(sorted(every), rng.randrange(4))}


def _sides(rng: random.Random) -> tuple[_Tree, _Tree]:
    """A tree before and after a change."""
    kept = _bystanders(rng)
    name, disguise = rng.choice(_NAMES), rng.choice(_DISGUISES)
    old, new = (_text(widget(*phases), rng) for phases in ("A", "AB"))
    before: _Tree = {**kept, name: disguise(old, rng) if disguise is not _damaged else _plain(old, rng)}
    after: _Tree = {**kept, name: disguise(new, rng)}
    match rng.randrange(6):
        case 0:  # moved
            after[f"moved/{name}"] = after.pop(name)
        case 1:  # a copy in another folder stays as it was; in the same folder one gives way, and the report names it
            before["copies/w.yaml"] = after["copies/w.yaml"] = _plain(old, rng)
        case 2:  # behind a link
            before["hidden/real"], before[name] = before[name], Path(os.path.relpath("hidden/real", Path(name).parent))
            after["hidden/real"], after[name] = after[name], before[name]
        case 3:  # content that is elsewhere
            after[name] = _POINTER % rng.getrandbits(200)
        case 4:  # a link that leads out or nowhere
            after[name] = Path(rng.choice(("/etc/passwd", "../../../x.yaml", "nowhere.yaml")))
        case _:
            pass
    return before, after


def _store(repo: Path, tree: _Tree, message: str) -> None:
    git(repo, "rm", "-rfq", "--ignore-unmatch", ".")
    for name, content in tree.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
    git(repo, "add", "-A", "--", ".")
    git(repo, "commit", "-qm", message)


def _sound(ran: Run, seed: int) -> Run:
    assert ran.code in (0, 1, 2), (seed, ran)
    assert "Traceback" not in ran.err and "crashed" not in ran.err, (seed, ran)
    return ran


#: A template whose kind is escaped.
_FOUND = {417}


@pytest.mark.parametrize("seed", sorted({*range(CASES), *_FOUND}))
def test_a_hidden_change_is_never_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = random.Random(seed)
    before, after = _sides(rng)
    repo = repository(tmp_path)
    _store(repo, before, "before")
    git(repo, "branch", "before")
    _store(repo, after, "after")
    flags = ("--format", "json")
    ran = _sound(run("diff", "git:before", "git:HEAD", *flags, cwd=repo), seed)
    assert ran.code, (seed, before, after)
    checks = []
    for cache in ("cold", "cold", "other"):  # without a cache, with one, and without one again
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / cache))
        checks.append(_sound(run("check", "--base", "before", *flags, cwd=repo), seed))
    assert checks[0].code, (seed, before, after)
    assert {(each.code, each.out, each.err) for each in checks} == {(checks[0].code, checks[0].out, checks[0].err)}
    same = _sound(run("diff", "git:HEAD", "git:HEAD", *flags, cwd=repo), seed)
    assert same.code in (0, 2)


@pytest.mark.parametrize("ref", _REFS)
def test_odd_refs(tmp_path: Path, ref: str) -> None:
    repo = repository(tmp_path)
    write(repo / "w.yaml", widget("A", "B"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a")
    for args in (("diff", ref, "HEAD"), ("diff", "HEAD", ref), ("check", "--base", ref), ("matrix", ref, "HEAD")):
        _sound(run(*args, cwd=repo), 0)


_PROGRAMS = (
    "filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.f.textconv", "diff.f.command", "diff.external",
    "merge.f.driver", "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.alternateRefsCommand",
    "gpg.program", "pager.grep", "uploadpack.packObjectsHook",
)  # fmt: skip
_COMMANDS = ("merge-base", "rev-parse", "ls-tree", "cat-file", "diff-index", "for-each-ref", "ls-files", "grep")
_HOOKS = ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman")


@pytest.mark.parametrize("head", ["index:", "HEAD", "worktree:"])
def test_no_program_of_a_repository_runs(tmp_path: Path, head: str) -> None:
    """Attributes come with the change; the settings and hooks are what they could ask for."""
    repo = repository(tmp_path)
    _store(repo, {"w.yaml": json.dumps(widget("A")).encode()}, "before")
    attributes = b"* filter=f diff=f merge=f eol=crlf export-ignore ident\n"
    _store(repo, {"w.yaml": json.dumps(widget("A", "B")).encode(), ".gitattributes": attributes}, "after")
    seen = tmp_path / "ran"
    for name in _PROGRAMS:
        git(repo, "config", name, f"touch {seen}; cat")
    for command in _COMMANDS:
        git(repo, "config", f"alias.{command}", f"!touch {seen}")
    git(repo, "config", "filter.f.required", "true")
    git(repo, "config", "core.hooksPath", str(tmp_path / "hooks"))
    for hook in _HOOKS:
        write(tmp_path / "hooks" / hook, f"#!/bin/sh\ntouch {seen}\n").chmod(0o755)
    seen.unlink(missing_ok=True)
    for more in ((), ("--all",), ("--format", "html")):
        assert run("check", "--base", "HEAD~1", "--head", head, *more, cwd=repo).code == 1
    assert not seen.exists()


@pytest.mark.parametrize("what", ["a file", "the commit", "a graft"])
def test_replaced_objects_hide_nothing(tmp_path: Path, what: str) -> None:
    repo = repository(tmp_path)
    _store(repo, {"w.yaml": json.dumps(widget("A")).encode()}, "before")
    _store(repo, {"w.yaml": json.dumps(widget("A", "B")).encode()}, "after")
    part = {"a file": ":w.yaml", "the commit": "", "a graft": ""}[what]
    old, new = (git(repo, "rev-parse", f"{each}{part}") for each in ("HEAD~1", "HEAD"))
    if what == "a graft":
        write(repo / ".git/info/grafts", f"{new}\n")
    else:
        git(repo, "replace", new, old)
    assert run("check", "--base", old if not part else "HEAD~1", cwd=repo).code == (2 if what == "a graft" else 1)

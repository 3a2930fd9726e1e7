"""The language server, asked by the client of pytest-lsp: what an editor shows on save, over a line, and as actions."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp", reason="pytest-lsp is not installed (the extra dev)")
pytest_asyncio = pytest.importorskip("pytest_asyncio")

from changes import repository, widget  # noqa: E402
from helpers import commit, git, run  # noqa: E402
from lsprotocol import types as lsp  # noqa: E402

#: How the variables begin that CI systems set: the client is an editor on somebody's machine.
_CI = ("CI", "GITHUB_", "GITLAB_", "PROW_", "PULL_", "JENKINS_", "BUILDKITE", "TF_BUILD", "TEAMCITY_")

GO, CRD, WAIVERS = "api/v1/widget_types.go", "config/crd/widgets.yaml", ".crdcompat-waivers.yaml"
_GO = """\
// +groupName=example.com
package v1

type Widget struct {
	Status WidgetStatus `json:"status,omitempty"`
}

type WidgetStatus struct {
	P string `json:"p,omitempty"` // Ünder 𝕎
}
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A branch for 4.16 with a widget, and nothing changed yet."""
    made = repository(tmp_path)
    commit(
        made, {CRD: widget("A"), GO: _GO, "api/v1/doc.go": "package v1\n", ".crdcompat.yaml": "base: release-4.16\n"}
    )
    git(made, "branch", "-m", "main", "release-4.16")
    git(made, "checkout", "-q", "-b", "pr")
    return made.resolve()


class Session:
    """A client beside a repository."""

    def __init__(self, client: pytest_lsp.LanguageClient, repo: Path) -> None:
        self.client, self.repo = client, repo

    def uri(self, name: str) -> str:
        return (self.repo / name).as_uri()

    async def open(self, name: str) -> None:
        self.client.diagnostics.pop(self.uri(name), None)
        self.opened(name)
        await self._answered(name)

    def opened(self, name: str) -> None:
        text = (self.repo / name).read_text()
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(self.uri(name), "text", 1, text))
        )

    async def save(self, name: str, text: str) -> None:
        """As an editor does: the text is written, then the server hears of it."""
        (self.repo / name).write_text(text)
        await self.change(name, text)
        self.client.diagnostics.pop(self.uri(name), None)
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(self.uri(name))))
        await self._answered(name)

    async def change(self, name: str, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(2, self.uri(name))
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    async def _answered(self, name: str) -> None:
        """The server says of each open file what it has, after each analysis; other files come in order of paths."""
        while self.uri(name) not in self.client.diagnostics:
            await asyncio.sleep(0.01)

    def shown(self, name: str) -> list[tuple[str, str, int, int, int]]:
        """The diagnostics of a file: severity, rule, line, and from which to which character."""
        found = self.client.diagnostics.get(self.uri(name), ())
        return [
            (d.severity.name, d.code, d.range.start.line, d.range.start.character, d.range.end.character) for d in found
        ]

    async def actions(self, name: str, line: int) -> list[lsp.CodeAction]:
        here = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 1))
        return await self.client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(self.uri(name)), here, lsp.CodeActionContext([]))
        )

    def apply(self, action: lsp.CodeAction) -> str:
        """Apply an edit of one file as an editor does, with a reason in place of the dots; the name of the file."""
        edit = action.edit
        if edit.document_changes:
            _, made = edit.document_changes
            uri, (change,) = made.text_document.uri, made.edits
        else:
            ((uri, (change,)),) = edit.changes.items()
        file = Path(uri.removeprefix("file://"))
        lines = (file.read_text() if file.exists() else "").splitlines(keepends=True)
        start, end = (sum(map(len, lines[: at.line])) + at.character for at in (change.range.start, change.range.end))
        text = "".join(lines)
        file.write_text(text[:start] + change.new_text.replace("…", "nothing writes it") + text[end:])
        return file.relative_to(self.repo).as_posix()


@pytest_lsp.fixture(
    config=pytest_lsp.ClientServerConfig(
        server_command=[sys.executable, "-m", "crdcompat", "lsp"],
        server_env={key: value for key, value in os.environ.items() if not key.startswith(_CI)},
    )
)
async def client(lsp_client: pytest_lsp.LanguageClient) -> AsyncIterator[None]:
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def session(client: pytest_lsp.LanguageClient, repo: Path) -> Session:
    return Session(client, repo)


_CHANGED = json.dumps(widget("A", "B"), indent=1)
_AT = 48  # the line of "B", from 0
_ERROR = ("Error", "enum-value-added")


@pytest.mark.asyncio
async def test_a_saved_change_is_shown_in_the_manifest_and_in_the_source(session: Session) -> None:
    await session.open(CRD)
    assert session.shown(CRD) == []
    await session.change(CRD, _CHANGED)
    assert session.shown(CRD) == []  # nothing is saved
    await session.save(CRD, _CHANGED)
    assert session.shown(CRD) == [(*_ERROR, _AT, 11, 14)]
    # The last letter has two units in UTF-16, in which editors count.
    assert session.shown(GO) == [(*_ERROR, 8, 1, 1 + len('P string `json:"p,omitempty"` // Ünder 𝕎') + 1)]
    await session.save(CRD, json.dumps(widget("A"), indent=1))
    assert (session.shown(CRD), session.shown(GO)) == ([], [])


@pytest.mark.asyncio
async def test_hover_has_the_servers_sentence_and_the_witness(session: Session) -> None:
    await session.open(CRD)
    await session.save(CRD, _CHANGED)
    for name, line in ((CRD, _AT), (GO, 8)):
        asked = lsp.HoverParams(lsp.TextDocumentIdentifier(session.uri(name)), lsp.Position(line, 5))
        text = (await session.client.text_document_hover_async(asked)).contents.value
        assert 'API server: status.p: Unsupported value: "B": supported values: "A"' in text
        assert '"status":{"p":"B"}' in text
        asked.position = lsp.Position(0, 0)
        assert await session.client.text_document_hover_async(asked) is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("which", "file"),
    [
        ("Waive enum-value-added of status.p by a marker in widget_types.go", GO),
        ("Waive enum-value-added of status.p in .crdcompat-waivers.yaml", WAIVERS),
        ("Declare growth of status.p: accepted from release-4.16, written from release-4.17", WAIVERS),
    ],
)
async def test_an_action_accepts_the_finding_once_it_has_a_reason(session: Session, which: str, file: str) -> None:
    await session.open(CRD)
    await session.save(CRD, _CHANGED)
    found = {each.title: each for each in await session.actions(CRD, _AT)}
    assert sorted(found) == [
        "Declare growth of status.p: accepted from release-4.16, written from release-4.17",
        "Waive enum-value-added of status.p by a marker in widget_types.go",
        "Waive enum-value-added of status.p in .crdcompat-waivers.yaml",
    ]
    assert run("check", "--head", "worktree:", cwd=session.repo).code == 1
    assert session.apply(found[which]) == file
    ran = run("check", "--head", "worktree:", cwd=session.repo)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "accepted by this change: 1 error"), ran.out
    await session.save(CRD, _CHANGED + "\n")
    assert session.shown(CRD) == []


@pytest.mark.asyncio
async def test_a_second_waiver_is_added_to_the_file_that_is_there(session: Session) -> None:
    """Once, although the finding is there against the base and a target."""
    commit(session.repo, {".crdcompat.yaml": "base: release-4.16\nrollback_targets: [v4.15.0]\n"})
    git(session.repo, "branch", "-f", "release-4.16")
    git(session.repo, "tag", "v4.15.0")
    (session.repo / WAIVERS).write_text("# ours\nwaivers: []\n")
    await session.open(CRD)
    await session.save(CRD, _CHANGED)
    waive = next(each for each in await session.actions(CRD, _AT) if each.title.endswith(WAIVERS))
    session.apply(waive)
    written = (session.repo / WAIVERS).read_text()
    assert written.startswith("# ours\nwaivers:\n  - crd: widgets.example.com\n") and written.count("crd:") == 1
    assert run("check", "--head", "worktree:", cwd=session.repo).code == 0


@pytest.mark.asyncio
async def test_a_broken_marker_is_shown_where_it_stands(session: Session) -> None:
    await session.open(GO)
    marker = "// +crdcompat:ignore=enum-value-added"
    await session.save(GO, _GO.replace("\tP string", f"\t{marker}\n\tP string"))
    assert session.shown(GO) == [("Warning", "waiver", 8, 0, 1 + len(marker))]


@pytest.mark.asyncio
async def test_a_broken_configuration_is_a_message(session: Session) -> None:
    (session.repo / ".crdcompat.yaml").write_text("bases: main\n")
    session.opened(CRD)
    while not session.client.messages:
        await asyncio.sleep(0.01)
    assert [each.message.startswith("crdcompat: ") and "bases" in each.message for each in session.client.messages] == [
        True
    ]

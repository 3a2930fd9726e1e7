"""The language server: pygls speaks the protocol, ``working_tree`` judges, ``accepting_edits`` accepts.

A file is judged when it is opened or saved, as it is on disk. One analysis runs at a time, and saves during one are
followed by a single other one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from crdcompat.errors import CrdcompatError
from crdcompat.features.lsp.accepting_edits import Edit, edits_for
from crdcompat.features.lsp.working_tree import Analysis, Asked, Mark, analyse, is_judged, marks_of_source, root_of
from crdcompat.findings.entries import Entry
from crdcompat.program import NAME
from crdcompat.render.escape import escape_text
from crdcompat.render.markdown.markup import hover_text
from crdcompat.version import __version__
from crdcompat.vocabulary import Severity

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
_ACTIONS = lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])


def serve(asked: Asked) -> None:
    """Serve an editor over standard input and output until it ends the session."""
    # pygls closes its streams, so it gets copies. Other output would break the messages, so it goes to standard error.
    given, taken = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with contextlib.redirect_stdout(sys.stderr):
        _server(asked).start_io(given, taken)


def _server(asked: Asked) -> LanguageServer:
    server = LanguageServer(NAME, __version__, lsp.TextDocumentSyncKind.Full)
    state = _State(server, asked)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        await state.judge(_root(params.text_document.uri), again=False)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        await state.judge(_root(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        at = params.position.line + 1
        found = [entry for entry, _ in state.entries_at(params.text_document.uri, at, at)]
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, hover_text(found))) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, _ACTIONS)
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        lines = params.range.start.line + 1, params.range.end.line + 1
        return await asyncio.to_thread(lambda: list(state.actions(params.text_document.uri, *lines)))

    return server


class _State:
    """The last analysis of each working tree, and the files whose diagnostics the editor shows."""

    def __init__(self, server: LanguageServer, asked: Asked) -> None:
        self._server, self._asked = server, asked
        self.found: dict[Path, Analysis] = {}
        self._shown: dict[Path, set[Path]] = {}
        self._running = asyncio.Lock()
        self._waiting: set[Path] = set()
        self._begun: set[Path] = set()

    async def judge(self, root: Path | None, *, again: bool = True) -> None:
        """Analyse a working tree and show what was found; an error is a message, and what was shown stays.

        ``again``: also if that was done before.
        """
        if root is None or root in self._waiting:
            return
        if root in self._begun and not again:
            if root in self.found:
                self._publish(self.found[root])
            return
        self._waiting.add(root)
        self._begun.add(root)
        async with self._running:
            self._waiting.discard(root)
            try:
                self.found[root] = await asyncio.to_thread(analyse, root, self._asked)
            except CrdcompatError as error:
                message = lsp.ShowMessageParams(lsp.MessageType.Error, f"{NAME}: {escape_text(str(error))}")
                self._server.window_show_message(message)
                return
        self._publish(self.found[root])

    def entries_at(self, uri: str, first: int, last: int) -> Iterator[tuple[Entry, Analysis]]:
        """The findings with a place in these lines of a file, each once."""
        file = _path(uri)
        root = root_of(file) if file is not None else None
        analysis = self.found.get(root) if root is not None else None
        if file is None or analysis is None:
            return
        marks = analysis.marks.get(file.relative_to(analysis.root).as_posix(), ())
        here = {id(mark.entry): mark.entry for mark in marks if first <= mark.line <= last and mark.entry is not None}
        yield from ((entry, analysis) for entry in here.values())

    def actions(self, uri: str, first: int, last: int) -> Iterator[lsp.CodeAction]:
        """The edits that accept the findings in these lines; none of a file with changes that are not saved."""
        for entry, analysis in self.entries_at(uri, first, last):
            try:
                edits = list(edits_for(entry, analysis))
            except CrdcompatError:  # a broken waiver file: the analysis says so
                continue
            for edit in edits:
                if (change := self._change(edit)) is not None:
                    yield lsp.CodeAction(edit.title, lsp.CodeActionKind.QuickFix, edit=change)

    def _change(self, edit: Edit) -> lsp.WorkspaceEdit | None:
        uri = _uri(edit.file)
        if edit.text is None:
            start = lsp.Position(0, 0)
            text = lsp.TextEdit(lsp.Range(start, start), edit.new)
            if not self._can_create():
                return lsp.WorkspaceEdit(changes={uri: [text]})
            created = lsp.CreateFile(uri, options=lsp.CreateFileOptions(ignore_if_exists=True))
            made = lsp.TextDocumentEdit(lsp.OptionalVersionedTextDocumentIdentifier(uri), [text])
            return lsp.WorkspaceEdit(document_changes=[created, made])
        document = self._server.workspace.get_text_document(uri)
        if document.source != edit.text:
            return None
        places = lsp.Range(*(self._position(uri, *_line_and_column(edit.text, at)) for at in (edit.start, edit.end)))
        return lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(places, edit.new)]})

    def _can_create(self) -> bool:
        """Whether the editor creates a file if an edit says so; others do for an edit of a file that is not there."""
        workspace = self._server.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        operations = edits.resource_operations if edits is not None else None
        return operations is not None and lsp.ResourceOperationKind.Create in operations

    def _publish(self, analysis: Analysis) -> None:
        """Show the marks of all files, also that an open file has none; take back marks that are no longer true."""
        found = {analysis.root / file: marks for file, marks in analysis.marks.items()}
        for file in self._open_files(analysis.root):
            name = file.relative_to(analysis.root).as_posix()
            own = marks_of_source(file.read_bytes(), name) if file.suffix == ".go" and file.is_file() else ()
            found[file] = (*found.get(file, ()), *own)
        for file in sorted({*found, *self._shown.get(analysis.root, ())}):
            uri = _uri(file)
            listed = [self._diagnostic(uri, mark) for mark in found.get(file, ())]
            self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, listed))
        self._shown[analysis.root] = {file for file, marks in found.items() if marks}

    def _open_files(self, root: Path) -> Sequence[Path]:
        """The files of a working tree that the editor has open."""
        paths = (_path(uri) for uri in self._server.workspace.text_documents)
        return [path for path in paths if path is not None and root_of(path) == root]

    def _diagnostic(self, uri: str, mark: Mark) -> lsp.Diagnostic:
        """The diagnostic of a mark: it covers the line from the place of the mark to its end."""
        lines = self._server.workspace.get_text_document(uri).lines
        width = len(lines[mark.line - 1].rstrip()) if mark.line <= len(lines) else 0
        start = min(mark.column - 1, width)
        ends = [self._position(uri, mark.line - 1, column) for column in (start, max(start, width))]
        message = escape_text(mark.message)
        severity = _SEVERITIES[mark.severity]
        return lsp.Diagnostic(lsp.Range(*ends), message, severity=severity, code=mark.code, source=NAME)

    def _position(self, uri: str, line: int, column: int) -> lsp.Position:
        """A place in characters, as the editor counts them."""
        document = self._server.workspace.get_text_document(uri)
        return document.position_codec.position_to_client_units(document.lines, lsp.Position(line, column))


def _path(uri: str) -> Path | None:
    found = to_fs_path(uri)
    return Path(found).resolve() if found else None


def _root(uri: str) -> Path | None:
    """The working tree to judge when this file is opened or saved; None if it decides nothing."""
    file = _path(uri)
    return root_of(file) if file is not None and is_judged(file) else None


def _uri(file: Path) -> str:
    return str(from_fs_path(str(file)))


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    before = text[:at]
    return before.count("\n"), at - (before.rfind("\n") + 1)

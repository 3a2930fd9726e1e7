"""servers: ask every server about every CRD, and find why some refuse it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from crdcompat.apiserver.crd_validation.spec import APPROVED
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.causes import Cause, ask
from crdcompat.apiserver.supported.crd_answer import Answer
from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.compare.placed import place_of
from crdcompat.config.applied import read_source, reader_for, shipped_alone
from crdcompat.config.configuration import Config
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError, problem_order
from crdcompat.features.diff.diff_report import release
from crdcompat.models.release import sorted_skips
from crdcompat.models.servers import CrdRow, Need, ServerAnswer, ServersReport
from crdcompat.schema.paths import render
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.server_names import ServerName


def servers(
    sources: Sequence[str],
    asked: Sequence[Server],
    config: Config,
    *,
    crds: Sequence[str] = (),
    repo: str | None = None,
) -> ServersReport:
    """Ask the servers about the CRDs of all sources; if ``crds`` has names, only about these.

    Raises SourceError, RefNotFoundError, and UsageError for a name that no source has.
    """
    reader = reader_for(config)
    read = (read_source(name, Side.ANY, reader, config, repo) for name in sources)
    sets = [shipped_alone(crds, config, Side.ANY) for crds in read]
    known = {document.crd.name for each in sets for document in each.documents}
    if missing := [name for name in crds if name not in known]:
        raise UsageError(f"no CRD is named {', '.join(missing)}; there are: {', '.join(sorted(known)) or 'none'}")
    rows = chain.from_iterable(_rows(each, asked, crds) for each in sets)
    problems = {problem for each in sets for problem in each.problems}
    return ServersReport(
        sources=tuple(map(release, sets)),
        servers=tuple(map(server_name, asked)),
        rows=tuple(sorted(rows, key=lambda row: (row.crd, row.source, row.files))),
        problems=tuple(sorted(problems, key=problem_order)),
        skipped=sorted_skips(*(each.skipped for each in sets)),
        notes=tuple(dict.fromkeys(note for each in sets for note in each.notes)),
    )


def _rows(crds: CrdSet, asked: Sequence[Server], wanted: Sequence[str]) -> Iterator[CrdRow]:
    """A row for each group of equal CRDs."""
    alike: dict[tuple[Any, ...], list[CrdDocument]] = {}
    for document in crds.documents:
        if not wanted or document.crd.name in wanted:
            alike.setdefault(_identity(document.crd), []).append(document)
    results = {copies[0]: ask(copies[0].crd, asked) for copies in alike.values()}
    places = crds.positions.of_values({first: {each.at for each in found.causes} for first, found in results.items()})
    for copies in alike.values():
        first = copies[0]
        found = results[first]
        yield CrdRow(
            crd=first.crd.name,
            kind=first.crd.kind,
            source=crds.name,
            files=tuple(document.file for document in copies),
            answers=tuple(map(_answer, found.answers)),
            needs=tuple(
                _need(cause, first, places.get((first.file, first.index, (*first.pointer, *cause.at)), (None, None)))
                for cause in found.causes
            ),
        )


def _identity(crd: Crd) -> tuple[Any, ...]:
    """A key that is equal for CRDs with the same answers. The reader gives CRDs with equal specs the same versions."""
    metadata = crd.raw.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    approved = annotations.get(APPROVED) if isinstance(annotations, dict) else None
    return id(crd.versions), crd.name, crd.raw.get("apiVersion"), str(approved)


def _answer(found: Answer) -> ServerAnswer:
    errors = tuple(fault.text for fault in found.faults)
    return ServerAnswer(server_name(found.server), errors, found.ignored.warnings, found.ignored.dropped)


def _need(cause: Cause, document: CrdDocument, place: tuple[int | None, int | None]) -> Need:
    version, path = place_of(document.crd, cause.at)
    return Need(
        kind=cause.kind.value,
        what=cause.what,
        title=f"`{cause.title}`" if cause.has_name else cause.title,
        crd=document.crd.name,
        version=version,
        path=render(path),
        rule=cause.rule,
        file=document.file,
        line=place[0],
        column=place[1],
        refused=_names(cause.refused),
        accepting=_names(cause.accepting),
        since=_name(cause.since),
        until=_name(cause.until),
        message=cause.message,
    )


def _names(found: Iterable[Server]) -> tuple[ServerName, ...]:
    return tuple(map(server_name, found))


def _name(server: Server | None) -> ServerName | None:
    return server_name(server) if server is not None else None

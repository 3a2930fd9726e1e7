"""judge: one write from files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.apiserver.admission import Verdict, metadata_of
from crdcompat.apiserver.ownership import Applier
from crdcompat.apiserver.redaction import redacted_verdict
from crdcompat.apiserver.sending import Sending
from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server
from crdcompat.errors import UsageError
from crdcompat.features.judge.judged_files import body, crd_for, name_of, one_object, only_crd, served
from crdcompat.features.judge.stored import Changes, changed_besides
from crdcompat.features.judge.write_verdict import judge_crd, judge_write, resource_of
from crdcompat.features.simulate.simulate_workflow import error_data
from crdcompat.render.escape import Style, finish, json_text, say, warn
from crdcompat.render.text.text_page import verdict_first
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary import ExitCode
from crdcompat.vocabulary.judging import FieldValidation

_ASSUMED = "the newest known version (--kube-version or --openshift-version sets it)"


class Question(Struct, frozen=True):
    """One write to judge: file names of the CRD and the objects, and on which server; ``redact``: hide its values.

    ``applier`` is who applies (None: a manager that owns no field, by force); ``validation`` and ``dry_run`` are the
    client's options. Without ``new`` the CRD itself is judged;
    ``old`` is then the file of the installed CRD.
    """

    crd: str
    new: str | None
    old: str | None
    op: str
    version: str | None
    server: Server | None
    ratcheting: bool | None
    redact: bool = False
    applier: Applier | None = None
    validation: FieldValidation = FieldValidation.WARN
    dry_run: bool = False


def answer(question: Question, style: Style | None) -> int:
    """Print the answer, as text in a style or as JSON without one. Returns the exit code.

    Raises CrdcompatError for input that cannot be judged.
    """
    server = question.server or NEWEST_SERVER
    server = Server(server.minor, server.openshift, question.ratcheting)
    verdict, shown = (_on_crd if question.new is None else _on_object)(question, server)
    if style is None:
        if question.server is None:
            warn(f"judged by {server}, {_ASSUMED}")
        say(json_text(verdict_data(verdict), orjson.OPT_INDENT_2))
    else:
        for line in finish(verdict_text(verdict, shown, style)):
            sys.stdout.write(f"{line}\n")
    return _exit_code(verdict)


def _on_object(question: Question, server: Server) -> tuple[Verdict, Shown]:
    new, duplicates = body(question.new or "")
    if not isinstance(new, dict) and not question.op.startswith("jsonPatch"):
        raise UsageError(f"{question.new}: not an object")
    old = one_object(question.old) if question.old else None
    sent = new if isinstance(new, dict) else {}
    like = sent if "Scale" not in question.op and question.op != "scale" else old or {}
    version = question.version or str(like.get("apiVersion", "")).rpartition("/")[2] or None
    resource = served(question.crd, resource_of(crd_for(question.crd, like), version, server))
    sending = Sending(question.validation, question.dry_run, duplicates)
    verdict = judge_write(resource, question.op, new, old, applier=question.applier, sending=sending)
    name = metadata_of(sent).get("name") or metadata_of(old or {}).get("name") or ""
    return redacted_verdict(verdict, resource.node) if question.redact else verdict, Shown(
        server=_named(question, server),
        write=f"{question.op} of {resource.crd.kind} {json_text(name)}, {resource.crd.name}/{resource.version.name}",
        besides=changed_besides(resource, question.op, sent, verdict),
        drops_status=question.op == "create"
        and "status" in sent
        and "status" not in (verdict.object or {"status": None}),
    )


def _on_crd(question: Question, server: Server) -> tuple[Verdict, Shown]:
    """The answer to a new CRD or an update of an installed one."""
    new = only_crd(question.crd)
    old = only_crd(question.old, new) if question.old else None
    verdict = judge_crd("updateCRD" if old else "createCRD", new, old, server)
    return verdict, Shown(_named(question, server), f"{'update' if old else 'create'} of the CRD {name_of(new)}")


def _named(question: Question, server: Server) -> str:
    """The server, and whether it is only assumed."""
    return str(server) if question.server is not None else f"{server}, {_ASSUMED}"


def _exit_code(verdict: Verdict) -> ExitCode:
    if verdict.accepted is None:
        return ExitCode.NOT_DONE
    return ExitCode.CLEAN if verdict.accepted else ExitCode.FOUND


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """A verdict for JSON (docs/judging.md#how-a-write-is-sent), without the id of a request."""
    return {
        "accepted": verdict.accepted,
        "code": verdict.code,
        "errors": [error_data(error) for error in verdict.errors],
        "aggregate": verdict.message,
        "result": verdict.object,
        "pruned_paths": list(verdict.pruned),
        "defaulted_paths": list(verdict.defaulted),
        "warnings": list(verdict.warnings),
        "unknown": [{"field": u.field, "what": u.what, "reason": u.reason} for u in verdict.unknown],
    }


# The verdict on one write as text: the answer with the server, then the errors and the changes.


#: Characters of the longest answer that is shown whole.
_MAX_ANSWER = 200
#: Errors and changed fields that the text lists.
_MAX_ERRORS, _MAX_CHANGES = 20, 50
_STATUS_DROPPED = "note: a create drops the status, so it was not judged (--op validate judges it)"


class Shown(Struct, frozen=True):
    """The parts of the text besides the verdict.

    ``server`` is the judging server, ``write`` the judged write (``create of Widget "a"``). ``besides`` are the other
    differences between the sent object and the stored one. ``drops_status``: the status was sent and not judged.
    """

    server: str
    write: str
    besides: Changes = Changes()
    drops_status: bool = False


def verdict_text(verdict: Verdict, shown: Shown, style: Style) -> Iterator[str]:
    """The verdict, then the details; if these fill a screen, the verdict is repeated at the end."""
    yield from verdict_first([_head(verdict, shown, style)], [*_body(verdict, shown, style)], style)


def _head(verdict: Verdict, shown: Shown, style: Style) -> str:
    if verdict.accepted:
        word, colour, why = "ACCEPTED", "good", ""
    elif verdict.accepted is None:
        word, colour, why = "UNKNOWN", "warning", f": {plural(len(verdict.unknown), 'constraint')} not judged"
    else:
        word, colour, why = "REJECTED", "error", f": {plural(len(verdict.errors), 'error')}" if verdict.errors else ""
    rest = style.wrap(f"{word} by {shown.server}{why}", first="").removeprefix(word)
    return f"{style.paint(word, colour)}{rest}"


def _body(verdict: Verdict, shown: Shown, style: Style) -> Iterator[str]:
    yield style.fill(shown.write)
    yield from _answer(verdict, style)
    for item in verdict.unknown:
        yield style.fill(f"{item.field}: {item.what}: {item.reason}", indent="    ", first="  not judged: ")
    for warning in verdict.warnings:
        yield style.fill(warning, indent="    ", first="  warning: ")
    if verdict.pruned:
        yield _kind_and_name("unknown fields, pruned", verdict.pruned, style)
    if verdict.defaulted:
        yield _kind_and_name("set by default", verdict.defaulted, style)
    if shown.besides.texts:
        yield _kind_and_name("changed besides", shown.besides.texts, style, "at least " if shown.besides.cut else "")
    if shown.drops_status:
        yield style.fill(_STATUS_DROPPED, indent="    ", first="  ")


def _answer(verdict: Verdict, style: Style) -> Iterator[str]:
    """The server's message. A long message is shown as its errors, a line or two each."""
    message = verdict.message
    if not message:
        return
    if style.verbosity > 0 or len(message) <= _MAX_ANSWER or not verdict.errors:
        yield style.wrap(message, indent="    ", first="  API server: ")
        return
    yield "  API server:"
    for error in verdict.errors[:_MAX_ERRORS]:
        yield style.clip(error.text(), indent="      ", first="    ")
    if len(verdict.errors) > _MAX_ERRORS:
        yield f"  and {plural(len(verdict.errors) - _MAX_ERRORS, 'more error')} (-v shows the whole answer)"


def _kind_and_name(what: str, names: Sequence[str], style: Style, least: str = "") -> str:
    rest = len(names) - _MAX_CHANGES
    more = f" and {least}{rest:,} more" if rest > 0 else ""
    return style.wrap(f"{what}: {', '.join(names[:_MAX_CHANGES])}{more}", indent="    ", first="  ")

"""Whether a cluster may go back, as a page: the answer, gaps, what is rejected or lost, and the steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.models.preflight import AccessRule, DeletedKind, GoBack, PreflightReport, WindowEffect
from crdcompat.render.escape import Style, json_text
from crdcompat.render.pages.blocks import Block, Cell, Code, Fold, Line, Listing, Notes, Section, Table
from crdcompat.render.pages.page import Answer, Number, Page
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.installers import answer_lines
from crdcompat.render.wording.joined_entries import fold, siblings
from crdcompat.render.wording.preflight_steps import shown_steps
from crdcompat.render.wording.replay import folded_causes
from crdcompat.render.wording.simulation import cause_line
from crdcompat.vocabulary import Effect
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.simulation import Loss

#: The tone of an answer, by the similar verdict on a release.
_TONES = {
    GoBack.YES: ReleaseVerdict.CLEAN,
    GoBack.NOTHING: ReleaseVerdict.CLEAN,
    GoBack.WITH_LOSSES: ReleaseVerdict.AT_RISK,
    GoBack.NO: ReleaseVerdict.BLOCKED,
    GoBack.UNKNOWN: ReleaseVerdict.UNKNOWN,
}
_MAX_CAUSES, _MAX_COMMANDS = 4, 3


def page(report: PreflightReport, style: Style) -> Page:
    """The page."""
    numbers = _numbers(report) if report.kinds else ()
    return Page(
        command="preflight",
        answers=(Answer(question(report), _TONES[report.answer], answer(report), reason(report), numbers=numbers),),
        body=tuple(_body(report, style)) if style.verbosity >= 0 else (),
        sides=(("OLD", report.old), ("cluster", report.new)),
    )


def _numbers(report: PreflightReport) -> tuple[Number, ...]:
    return (
        Number(WriteResult.REJECTED, report.rejected, "cannot be written"),
        Number(WriteResult.LOSES_DATA, report.losing, "with the next write"),
        Number("judged", report.objects, "of kinds that can matter"),
    )


def _body(report: PreflightReport, style: Style) -> Iterator[Block]:
    old, most = report.old.title, len(report.missing) if style.verbosity > 0 else _MAX_CAUSES
    servers = servers_line(report)
    yield from (Line(each, hang=0, fold=Fold.ALWAYS) for each in (servers, *answer_lines(report)) if each)
    yield Notes((*report.old.notes, *report.new.notes, *report.notes), depth=1, hang=1, fold=Fold.ALWAYS)
    yield from _listed("What is missing", missing_texts(report, most), "missing", more=tuple(_role(report)))
    yield from _listed(f"What {old} rejects", rejected_texts(report), "rejected")
    about = "as long as nobody changes it; it cannot be created anew"
    yield from _listed(f"What {old} tolerates", map(cause_line, report.tolerated), "tolerated", about)
    yield from _listed("What helm deletes", map(deleted_text, report.deleted), "deleted")
    yield from _listed("What is lost", map(loss_text, report.losses), "losses")
    if report.steps:
        yield _steps(report)
    if report.windows:
        about, title = "whatever is stored now", "While CRDs and operator differ, this can fail"
        yield Section(title, tuple(_windows(report)), about, anchor="windows")
    if report.kinds:
        yield _kinds(report, len(report.kinds) if style.verbosity > 0 else _MAX_CAUSES)


def _listed(
    title: str, texts: Iterable[str], anchor: str, about: str = "", more: tuple[Block, ...] = ()
) -> Iterator[Block]:
    if lines := tuple(Line(text, fold=Fold.ALWAYS) for text in texts):
        yield Section(title, (Listing(lines, _MAX_CAUSES), *more), about, anchor=anchor)


def _role(report: PreflightReport) -> Iterator[Block]:
    """The rules of a ClusterRole that allow to read the missing kinds."""
    if rules := missing_rules(report):
        text = "These rules of a ClusterRole allow it (--print-rbac prints all that are needed):"
        yield Line(text, hang=0, fold=Fold.ALWAYS)
        yield Code("Rules", tuple(rule_lines(rules)))


def _steps(report: PreflightReport) -> Section:
    """The steps with their commands. A command stays on one line, because users copy it."""
    lines = tuple(Line(each.sentence, fold=Fold.ALWAYS, commands=each.commands) for each in shown_steps(report))
    unlisted = unlisted_text(report)
    return Section(
        "What to do, in this order",
        (
            Listing(lines, ordered=True, most_commands=_MAX_COMMANDS),
            *((Line(unlisted, hang=0, fold=Fold.ALWAYS),) if unlisted else ()),
        ),
        "--dry-run=server tries a kubectl command",
        anchor="steps",
    )


def _windows(report: PreflightReport) -> Iterator[Block]:
    """The failures while only the CRDs, or only the operator, are rolled back."""
    for title, failing, others in windows(report):
        yield Line(title, fold=Fold.ALWAYS)
        yield Listing(tuple(Line(each, depth=2, fold=Fold.ALWAYS) for each in failing), _MAX_CAUSES)
        if others:
            yield Line(others, depth=2, fold=Fold.ALWAYS)


def _kinds(report: PreflightReport, most: int) -> Table:
    rows = tuple(
        tuple(map(Cell, (kind.crd, *map(str, (kind.findings, kind.objects, kind.rejected, kind.losing)))))
        for kind in report.kinds
    )
    judged = some([f"{kind.objects} {kind.kind}" for kind in report.kinds], most)
    head = ("CRD", "findings", "objects", "rejected", "lose data")
    return Table("What was judged", head, rows, said=f"Judged: {judged}.")


#: The failure at a path while the versions of CRD and operator differ.
_FAILURES = {
    Effect.CRD_REJECTED: "the server refuses the CRD",
    Effect.WRITE_REJECTED: "writes are rejected",
    Effect.REQUEST_FAILED: "requests fail",
    Effect.VALUE_PRUNED: "the value is lost",
    Effect.VALUE_DEFAULTED: "a default is added",
}
_PLAIN = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_ROLE = "crdcompat-preflight"


def question(report: PreflightReport) -> str:
    """The question: ``May prod go back to release-4.13?``."""
    return f"May {' and '.join(report.source)} go back to {report.old.full}?"


def answer(report: PreflightReport) -> str:
    """The answer as the page shows it: in capitals."""
    return report.answer.upper()


def reason(report: PreflightReport) -> str:
    """The reason for the answer, in one sentence."""
    judged = f"{plural(report.objects, 'object')} of {plural(len(report.kinds), 'kind')} judged"
    match report.answer:
        case GoBack.NOTHING:
            return f"The cluster has none of the CRDs of {report.old.title}: nothing to roll back here."
        case GoBack.UNKNOWN:
            gaps = plural(len(report.missing), "gap")
            if report.says_no:
                return f"What was judged says no; not everything could be judged ({gaps})."
            return f"Not everything could be judged: {gaps}."
        case GoBack.NO:
            refused = f"the server refuses {plural(len(report.refused), 'CRD')}" if report.refused else ""
            share = f"{report.rejected} of {plural(report.objects, 'object')}"
            rejected = f"{share} cannot be written" if report.rejected else ""
            early = f"{share_of_early(report)} a value too early" if report.early else ""
            said = " and ".join(filter(None, (rejected, refused)))
            gone = f"helm rollback deletes {', '.join(map(deleted_text, report.deleted))}" if report.deleted else ""
            return ". ".join(filter(None, (said and f"After the rollback {said}", gone, early))) + "."
        case GoBack.WITH_LOSSES:
            share = f"{report.losing} of {plural(report.objects, 'judged object')}"
            return f"Every write is accepted, but {share} will lose fields."
    if not report.kinds:
        return f"No object of {plural(report.installed, 'CRD')} can be rejected or lose a field."
    return f"Every write is accepted, and nothing is lost ({judged})."


def share_of_early(report: PreflightReport) -> str:
    """How many objects hold a value before the release that is declared to write it."""
    most = max(report.early, key=lambda cause: cause.objects)
    return f"{most.objects} of {plural(most.total, most.kind)} {'holds' if most.objects == 1 else 'hold'}"


def servers_line(report: PreflightReport) -> str:
    """The cluster's version, and the server that judges; "" if neither is known."""
    runs = f"The cluster runs {report.platform}. " if report.platform else ""
    judge = f"After the rollback, {report.judge} judges." if report.judge and report.installed else ""
    return f"{runs}{judge}".strip()


def missing_texts(report: PreflightReport, most: int) -> list[str]:
    """What was not judged, and why; items with the same reason share one text, which names at most ``most`` of them."""
    by_reason: dict[str, list[str]] = {}
    for item in report.missing:
        by_reason.setdefault(item.reason, []).append(item.what)
    return [
        f"{reason}: {some(names, most)}" if len(names) > 1 else f"{names[0]}: {reason}"
        for reason, names in by_reason.items()
    ]


def missing_rules(report: PreflightReport) -> list[AccessRule]:
    """The rules of a ClusterRole that allow to read what is missing, each once."""
    return list(dict.fromkeys(item.rule for item in report.missing if item.rule is not None))


def rejected_texts(report: PreflightReport) -> list[str]:
    """The refused CRDs, then the rejected values with the managers that wrote them; siblings share a text."""
    found = [f"{item.crd}: {item.message}" for item in report.refused]
    for path, cause, causes in folded_causes(report.causes):
        places = {(each.crd, each.path) for each in causes}
        names = dict.fromkeys(each.manager for each in report.writers if (each.crd, each.path) in places)
        found.append(cause_line(cause, path) + (f" (written by {', '.join(names)})" if names else ""))
    return found


def deleted_text(deleted: DeletedKind) -> str:
    """What goes with its CRD: ``3 Widgets with widgets.example.com``."""
    return f"{deleted.objects} {deleted.kind} with {deleted.crd}"


def loss_text(loss: Loss) -> str:
    """A lost field: ``3 Widget: spec.size (for example Widget/a)``."""
    return f"{loss.objects} {loss.kind}: {loss.path} (for example {loss.example})"


def unlisted_text(report: PreflightReport) -> str:
    """A sentence on the rejected objects without steps; "" if there are none."""
    verb = "needs" if report.unlisted == 1 else "need"
    objects = plural(report.unlisted, "more object")
    return f"{objects} {verb} a repair: repair these, then ask again." if report.unlisted else ""


#: The two windows of a rollback: a title, and the attribute of the effect.
_WINDOWS = {
    "old CRDs, new operator": "old_crd_new_writer",
    "new CRDs, old operator": "new_crd_old_writer",
}


def windows(report: PreflightReport) -> Iterator[tuple[str, list[str], str]]:
    """Each window: a title, its failures, and the number of fields that can be lost or defaulted ("" for none)."""
    for title, attribute in _WINDOWS.items():
        effects: list[tuple[WindowEffect, Effect]] = [(each, getattr(each, attribute)) for each in report.windows]
        failing = [pair for pair in effects if pair[1] in _FAILING]
        groups = siblings(failing, lambda pair: pair[0].path, lambda pair: (pair[0].kind, pair[1]))
        lossy = sum(effect not in (*_FAILING, Effect.NONE) for _, effect in effects)
        others = f"{plural(lossy, 'field')} can be lost or defaulted" if lossy else ""
        yield title if failing or others else f"{title}: nothing fails", [*map(_window, groups)], others


_FAILING = (Effect.CRD_REJECTED, Effect.WRITE_REJECTED, Effect.REQUEST_FAILED)


def _window(group: Sequence[tuple[WindowEffect, Effect]]) -> str:
    first, effect = group[0]
    return f"{first.kind} {fold([each.path for each, _ in group]) or 'CRD'}: {_FAILURES[effect]}"


def rule_lines(rules: Sequence[AccessRule]) -> Iterator[str]:
    """Rules of a ClusterRole as YAML."""
    for rule in rules:
        yield f"- apiGroups: [{_yaml(rule.group)}]"
        yield f"  resources: [{', '.join(map(_yaml, rule.resources))}]"
        yield "  verbs: [list]"


def cluster_role(rules: Sequence[AccessRule]) -> Iterator[str]:
    """A ClusterRole with these rules as YAML. The server's version needs no rule: every user may read it."""
    yield from (
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        "metadata:",
        f"  name: {_ROLE}",
        "rules:",
        *rule_lines(rules),
    )


def _yaml(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json_text(text)

"""The scope of a preflight: the CRDs that a rollback replaces, and the kinds whose objects can matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.refusal import refusal, update_refusal
from crdcompat.apiserver.server_versions import Server
from crdcompat.crds.model import GROUP, V1
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved, resolve, resolve_all
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_workflow import diff
from crdcompat.features.preflight.standing import Standing
from crdcompat.models.finding import Finding
from crdcompat.models.preflight import AccessRule, Missing, RefusedCrd, StepKind, WindowEffect
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.filters import Filters

#: The path of the list of CRDs, and the access rule for it.
CRDS_API = f"/apis/{V1}/customresourcedefinitions"
CRDS_RULE = AccessRule(GROUP, ("customresourcedefinitions",))


class Scope(Struct, frozen=True, eq=False):
    """The CRDs that OLD and the cluster both have, and the findings between them.

    ``olds`` and ``news`` are the CRDs by name in the cluster's ``context``. ``needed`` are the CRDs whose objects can
    matter, each with the number of its findings. ``extra`` are installed CRDs of OLD's API groups that OLD lacks there
    and that stay, ``deleted`` those that the rollback deletes with their objects.
    """

    old: CrdSet
    installed: CrdSet
    context: str
    olds: Mapping[str, Resolved]
    news: Mapping[str, Resolved]
    findings: tuple[Finding, ...]
    needed: Mapping[str, int]
    extra: tuple[str, ...]
    missing: tuple[Missing, ...]
    deleted: frozenset[str] = frozenset()

    @property
    def both(self) -> frozenset[str]:
        """The names of the CRDs that a rollback replaces."""
        return frozenset(self.olds.keys() & self.news.keys())

    @property
    def windows(self) -> tuple[WindowEffect, ...]:
        """The findings that can cause a failure while the versions of CRD and operator differ, rejections first."""
        found = (
            WindowEffect(
                finding.id,
                finding.crd,
                finding.kind,
                finding.path,
                finding.windows.old_crd_new_writer,
                finding.windows.new_crd_old_writer,
            )
            for finding in self.findings
        )
        failing = (each for each in found if {each.old_crd_new_writer, each.new_crd_old_writer} != {Effect.NONE})
        return tuple(sorted(failing, key=lambda each: _ORDER.index(each.old_crd_new_writer)))


_ORDER = tuple(Effect)


def scope_of(
    old: CrdSet, cluster: CrdSet, standing: Standing, *, read_all: bool = False, declared: Collection[str] = ()
) -> Scope:
    """Compare OLD with the CRDs of a cluster in a rollback.

    ``cluster`` are all its CRDs, ``standing`` says which of them and of OLD's count. ``read_all``: the objects of all
    CRDs of both can matter; those of ``declared`` CRDs can in any case, because of values that they may not hold yet. A
    CRD that OLD lacks in the cluster's context stays as it is: nothing differs for its
    objects.
    """
    installed, name = _with_deleted(standing.installed, old, cluster), standing.context
    unread = _unread(old, cluster)
    if not installed.documents:
        return Scope(old, installed, name, {}, {}, (), {}, (), unread)
    _, olds = resolve_all(old, installed, name)
    of_old = {each.name: each for each in olds.values()}
    of_new = {each: resolve(tuple(documents)) for each, documents in installed.named().items()}
    both = of_old.keys() & of_new.keys()
    deleted = old.deleted & of_new.keys()
    counted = Counter[str](dict.fromkeys((*deleted, *(both if read_all else both.intersection(declared))), 0))
    findings: tuple[Finding, ...] = ()
    missing: list[Missing] = []
    if both - deleted:
        wanted = Filters((Direction.ROLLBACK,), touched=frozenset(both - deleted))
        options = DiffOptions(wanted, judge_new=False, across_servers=False, advise=False, locate=False)
        report = diff(old, installed, options)
        findings = tuple(each for each in report.findings if each.effect is not Effect.NONE and name in each.contexts)
        counted.update(finding.crd for finding in findings)
        counted.update(dict.fromkeys((entry.crd for entry in report.undecided if name in entry.contexts), 0))
        what = "CRDs that were not compared"
        missing = [Missing(what, reason, step=StepKind.NAME_CONTEXT) for reason in report.not_compared]
    return Scope(
        old=old,
        installed=installed,
        context=name,
        olds=of_old,
        news=of_new,
        findings=findings,
        needed={crd: counted[crd] for crd in sorted(counted, key=lambda crd: (-counted[crd], crd))},
        extra=tuple(sorted(of_new.keys() - both - deleted)),
        missing=(*standing.missing, *missing, *unread),
        deleted=deleted,
    )


def _with_deleted(installed: CrdSet, old: CrdSet, cluster: CrdSet) -> CrdSet:
    """The CRDs that count, and the CRDs of any API group that the rollback deletes."""
    counting = installed.named()
    more = [each for each in cluster.documents if each.crd.name in old.deleted and each.crd.name not in counting]
    return replace(installed, documents=(*installed.documents, *more))


def _unread(*sides: CrdSet) -> tuple[Missing, ...]:
    """The CRDs that could not be read."""
    return tuple(
        Missing(f"{side.name}: {each.file}", each.message, step=StepKind.MEND)
        for side in sides
        for each in side.problems
    )


def list_path(scope: Scope, name: str) -> str:
    """The path of the list of all objects of an installed CRD, at a version that the cluster serves; "" if none is."""
    crd = scope.news[name].crd
    served = sorted((each for each in crd.versions if each.served), key=lambda each: not each.storage)
    return f"/apis/{crd.group}/{served[0].name}/{crd.plural}" if served else ""


def stored_versions(installed: Resolved) -> tuple[str, ...]:
    """``status.storedVersions`` of an installed CRD; without a status, its storage version."""
    crd = installed.crd
    return crd.stored_versions or tuple(version.name for version in crd.versions if version.storage)


def refused_crds(scope: Scope, server: Server) -> Iterator[RefusedCrd]:
    """The CRDs of OLD that ``server`` refuses, as new CRDs or as updates of the installed ones."""
    for name in sorted(scope.both - scope.deleted):
        target, current = scope.olds[name].crd, scope.news[name]
        message = refusal(target, server) or update_refusal(current.crd, target, stored_versions(current), server)
        if message:
            yield RefusedCrd(name, message)


def access_rules(scope: Scope, names: Collection[str] | None = None) -> tuple[AccessRule, ...]:
    """The smallest access rules for listing CRDs and the objects of ``names`` (None: of all needed CRDs)."""
    by_group: dict[str, list[str]] = {}
    for name in sorted(scope.needed if names is None else names):
        crd = scope.news[name].crd
        by_group.setdefault(crd.group, []).append(crd.plural)
    return (CRDS_RULE, *(AccessRule(group, tuple(plurals)) for group, plurals in sorted(by_group.items())))


def access_rule(scope: Scope, name: str) -> AccessRule:
    """The access rule for listing the objects of one CRD."""
    return access_rules(scope, [name])[-1]

"""The context of a cluster, by which the variants of a release's CRDs are chosen: its feature set, or its channel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.context import (
    CHANNEL,
    DEFAULT,
    FEATURE_SET,
    PROFILE,
    Context,
    feature_sets,
    no_context,
    profiles_of,
)
from crdcompat.crds.context import prominence as rank
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import usual_context
from crdcompat.crds.variants import contexts_of
from crdcompat.errors import UsageError
from crdcompat.models.preflight import Missing, StepKind
from crdcompat.recordings.clusters import ClusterFacts

FEATURE_GATES = "featuregates.config.openshift.io"
_FEATURE_GATES_API = "/apis/config.openshift.io/v1/featuregates"


class Standing(Struct, frozen=True, eq=False):
    """A cluster's context, and its CRDs: those of them that are in API groups of OLD, marked as being in this context.

    ``notes`` say what names the context. ``missing`` are the gaps where nothing does and another one could change the
    answer.
    """

    context: str
    installed: CrdSet
    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()


def standing_of(
    old: CrdSet, installed: CrdSet, facts: ClusterFacts, wanted: str | None = None, *, of_release: bool = False
) -> Standing:
    """The context of a cluster: the ``wanted`` one, else its FeatureGate's, else the context in its CRDs' annotations.

    ``of_release``: ``installed`` are the CRDs of a release with all their variants, of which the cluster has those of
    its context. Else they are the cluster's own: it has each of them. Raises UsageError for an unknown context.
    """
    groups = {document.crd.group for document in old.documents}
    documents = tuple(document for document in installed.documents if document.crd.group in groups)
    known = {str(context): context for context in contexts_of(old.documents, installed.documents)}
    if wanted is not None and wanted not in known:
        raise UsageError(no_context(wanted, f"in {old.name}", known))
    contexts = tuple(known.values())
    named, by = _named(contexts, facts, () if of_release else documents)
    name = wanted or named or usual_context(old, installed)
    context = known[name]
    taken = tuple(_marked(each, context) for each in documents if not of_release or each.is_in(context))
    is_open = wanted is None and named is None and _matters(old, (*documents, *taken), contexts, context)
    return Standing(
        context=name,
        installed=replace(installed, documents=taken),
        notes=tuple(
            _notes(context, "it is assumed" if named is None else by) if wanted is None else _against(named, wanted, by)
        ),
        missing=(_gap(old, by, context, of_release=of_release),) if is_open else (),
    )


def _named(contexts: tuple[Context, ...], facts: ClusterFacts, own: tuple[CrdDocument, ...]) -> tuple[str | None, str]:
    """The context of the cluster (None: nothing names it), and what names it.

    Without a context, the words say which feature set the cluster has that OLD lacks; "" if none is known.
    """
    if len({(each.feature_set, each.channel) for each in contexts}) == 1:
        return str(min(contexts, key=lambda each: rank(str(each)))), ""
    profiles = {name for _, names in facts.feature_sets for name in names}
    profiles = profiles or _shared(profiles_of(each.crd.annotations) for each in own)
    by_gate = {feature_set for feature_set, _ in facts.feature_sets}
    by_crds = _shared(feature_sets(each.crd.annotations) for each in own)
    channels = _shared([each.crd.annotations[CHANNEL]] for each in own if CHANNEL in each.crd.annotations)
    for found, by in ((by_gate, "its FeatureGate says so"), (by_crds | channels, "its CRDs say so")):
        if len(found) == 1:
            fits = [each for each in contexts if found == {each.feature_set or each.channel}]
            likely = [each for each in fits if each.profile in profiles] or fits
            if not likely:
                return None, f"the cluster has the feature set {next(iter(found))}"
            return str(min(likely, key=lambda each: rank(str(each)))), by
    return None, ""


def _shared(names: Iterable[Iterable[str]]) -> set[str]:
    """The names that all lists share; a list without names is of all clusters."""
    listed = [set(each) for each in names]
    listed = [each for each in listed if each]
    return set.intersection(*listed) if listed else set()


def _marked(document: CrdDocument, context: Context) -> CrdDocument:
    """The document of an installed CRD, as one of its context alone, whatever release it once came from."""
    annotations = {FEATURE_SET: context.feature_set, CHANNEL: context.channel}
    marks = {key: value for key, value in annotations.items() if value}
    if context.profile:
        marks[f"{PROFILE}{context.profile}"] = "true"
    return replace(document, crd=replace(document.crd, annotations=marks), gated={})


def _matters(old: CrdSet, installed: Iterable[CrdDocument], contexts: tuple[Context, ...], assumed: Context) -> bool:
    """Whether another context than the assumed one has other documents of a CRD that both sides have."""
    names = {document.crd.name for document in installed}
    others = [each for each in contexts if each.profile == assumed.profile and each != assumed]
    both = [document for document in (*old.documents, *installed) if document.crd.name in names]
    return any(document.is_in(other) != document.is_in(assumed) for document in both for other in others)


def _gap(old: CrdSet, by: str, assumed: Context, *, of_release: bool) -> Missing:
    if by:
        why = f"{by}, which {old.title} does not know: judged as {assumed}"
        return Missing("the feature set", why, step=StepKind.NAME_CONTEXT)
    if assumed.channel:
        why = f"nothing names the channel of the cluster: judged as {assumed}"
        return Missing("the channel", why, step=StepKind.NAME_CONTEXT)
    if not of_release:
        why = f"neither a FeatureGate nor the CRDs of the cluster name it: judged as {assumed}"
        return Missing("the feature set", why, step=StepKind.NAME_CONTEXT)
    why = f"not recorded, and the feature set of the cluster decides which CRDs it has: judged as {assumed}"
    return Missing(FEATURE_GATES, why, step=StepKind.RECORD, api=_FEATURE_GATES_API)


def _against(named: str | None, wanted: str, by: str) -> Iterator[str]:
    if named is not None and by and named != wanted:
        yield f"warning: the cluster has the context {named} ({by}), and --context names {wanted}"


def _notes(context: Context, by: str) -> Iterator[str]:
    if str(context) == DEFAULT:
        return
    reason = f"{by}; " if by else ""
    yield f"variants of CRDs are those of context {context} ({reason}--context names another)"
    if context.is_terminal:
        yield f"OpenShift neither upgrades nor rolls back clusters of the feature set {context.feature_set}"

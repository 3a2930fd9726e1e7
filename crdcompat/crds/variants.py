"""Which annotations distinguish the variants of a CRD, and in which contexts a tree has them.

See docs/configuration.md#variants-and-feature-gates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.crds.context import CHANNEL, FEATURE_SET, GATE, PROFILE, Context, feature_sets, profiles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from crdcompat.crds.model import CrdDocument

#: Kinds of trees, by the annotations that distinguish their variants.
OPENSHIFT, GATEWAY, PLAIN = "openshift", "gateway-api", "plain"


def preset_of(documents: Iterable[CrdDocument]) -> str:
    """The kind of a tree, by the annotations of its documents: OPENSHIFT, GATEWAY or PLAIN."""
    facts = _facts(documents)
    return GATEWAY if facts.channels else OPENSHIFT if facts.is_openshift else PLAIN


def variant_annotations_only(
    preset: str | None, variants: Sequence[str]
) -> Callable[[Mapping[str, str]], Mapping[str, str]]:
    """A function from a document's annotations to those that distinguish variants.

    It removes the annotations of other presets (None: it removes nothing). The value of the first key of ``variants``
    that a document has becomes its channel.
    """

    def kept(annotations: Mapping[str, str]) -> Mapping[str, str]:
        found = dict(annotations)
        for key in annotations:
            is_openshift = key in (FEATURE_SET, GATE) or key.startswith(PROFILE)
            of = OPENSHIFT if is_openshift else GATEWAY if key == CHANNEL else preset
            if preset is not None and of != preset:
                del found[key]
        channel = next((annotations[key] for key in variants if key in annotations), None)
        return found if channel is None else {**found, CHANNEL: channel}

    return kept


def contexts_of(documents: Iterable[CrdDocument], others: Iterable[CrdDocument]) -> tuple[Context, ...]:
    """The contexts of a tree: each feature set in it (and ``Default``) with each profile, or its channels.

    ``others`` are the documents of the tree to compare with: a tree without profiles (or channels) is the same in each
    profile (or channel) of the other one.
    """
    own, other = _facts(documents), _facts(others)
    if own.channels or (other.channels and not own.is_openshift):
        return tuple(Context(channel=channel) for channel in sorted(own.channels or other.channels))
    if not own.is_openshift and not other.is_openshift:
        return (Context(),)
    profiles = sorted(own.profiles or other.profiles) or [""]
    return tuple(Context(name, profile) for name in sorted(own.sets | {"Default"}) for profile in profiles)


def is_shipped(documents: Iterable[CrdDocument], contexts: Collection[Context]) -> bool:
    """Whether a cluster of any context gets one of the documents; feature gates can be off in all."""
    return any(document.is_in(context) for context in contexts for document in documents)


class _Facts(Struct, frozen=True):
    sets: frozenset[str]
    profiles: frozenset[str]
    channels: frozenset[str]

    @property
    def is_openshift(self) -> bool:
        return bool(self.sets or self.profiles)


def _facts(documents: Iterable[CrdDocument]) -> _Facts:
    listed = list(documents)
    annotations = [document.crd.annotations for document in listed]
    gated = (feature_set for document in listed for feature_set, _ in document.gated)
    return _Facts(
        frozenset({*gated, *(name for notes in annotations for name in feature_sets(notes))}),
        frozenset(name for notes in annotations for name in profiles_of(notes)),
        frozenset(notes[CHANNEL] for notes in annotations if CHANNEL in notes),
    )

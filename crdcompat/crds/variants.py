"""Contexts: they decide which of several variants of a CRD a cluster gets (design, section 4).

A context is an OpenShift feature set and cluster profile, a Gateway API channel, or ``default`` where a tree has no
variants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from crdcompat.crds.reader import CrdDocument

FEATURE_SET = "release.openshift.io/feature-set"
PROFILE = "include.release.openshift.io/"
#: Feature gates that decide whether a cluster gets a manifest; see ``gates.py``.
GATE = "release.openshift.io/feature-gate"
CHANNEL = "gateway.networking.k8s.io/channel"
DEFAULT = "default"


class Context(Struct, frozen=True, order=True):
    """``feature_set`` and ``profile`` on OpenShift, ``channel`` for Gateway API; all empty: ``default``."""

    feature_set: str = ""
    profile: str = ""
    channel: str = ""

    def __str__(self) -> str:
        if self.channel:
            return self.channel
        return f"{self.feature_set}/{self.profile or DEFAULT}" if self.feature_set else DEFAULT

    @property
    def is_terminal(self) -> bool:
        """Clusters of such a feature set can be neither upgraded nor rolled back."""
        return self.feature_set.endswith("NoUpgrade")

    def includes(self, annotations: Mapping[str, str]) -> bool:
        """Whether a cluster of this context gets a document with these annotations; without any, each does."""
        if self.channel:
            return annotations.get(CHANNEL, self.channel) == self.channel
        sets, profiles = _sets(annotations), _profiles(annotations)
        return (not self.feature_set or not sets or self.feature_set in sets) and (
            not self.profile or not profiles or self.profile in profiles
        )


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


def no_context(wanted: str, where: str, known: Collection[str]) -> str:
    """Which context is not there, which ones are, and the nearest of them."""
    return f"no context {wanted} {where}; there are: {', '.join(known) or 'none'}{did_you_mean(wanted, known)}"


def is_default(context: str) -> bool:
    """Whether the name of a context is about the feature set of most clusters; without feature sets, each is."""
    return context.partition("/")[0] == "Default" or "/" not in context


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
        frozenset({*gated, *(name for notes in annotations for name in _sets(notes))}),
        frozenset(name for notes in annotations for name in _profiles(notes)),
        frozenset(notes[CHANNEL] for notes in annotations if CHANNEL in notes),
    )


def _sets(annotations: Mapping[str, str]) -> list[str]:
    return [name.strip() for name in annotations.get(FEATURE_SET, "").split(",") if name.strip()]


def _profiles(annotations: Mapping[str, str]) -> list[str]:
    """The profiles that include a document; any other value than "true" does not."""
    return [key[len(PROFILE) :] for key, value in annotations.items() if key.startswith(PROFILE) and value == "true"]

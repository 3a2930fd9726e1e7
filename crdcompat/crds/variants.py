"""Contexts: which of several variants of a CRD a cluster would get (design, section 4).

A context is one consistent choice: an OpenShift feature set and cluster profile, a Gateway API channel, or
``default`` where nothing tells variants apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crdcompat.crds.reader import CrdDocument

FEATURE_SET = "release.openshift.io/feature-set"
PROFILE = "include.release.openshift.io/"
CHANNEL = "gateway.networking.k8s.io/channel"
DEFAULT = "default"


@dataclass(frozen=True, slots=True, order=True)
class Context:
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

    def takes(self, annotations: Mapping[str, str]) -> bool:
        """Whether a cluster of this context gets a document with these annotations; no annotation: every one."""
        if self.channel:
            return annotations.get(CHANNEL, self.channel) == self.channel
        sets, profiles = _sets(annotations), _profiles(annotations)
        return (not self.feature_set or not sets or self.feature_set in sets) and (
            not self.profile or not profiles or self.profile in profiles
        )


#: What may tell variants apart, by the kind of tree.
OPENSHIFT, GATEWAY, PLAIN = "openshift", "gateway-api", "plain"


def preset_of(documents: Iterable[CrdDocument]) -> str:
    """Which kind of tree it is, by what its annotations hold."""
    facts = _facts(documents)
    return GATEWAY if facts.channels else OPENSHIFT if facts.is_openshift else PLAIN


def decisive_annotations(
    preset: str | None, variants: Sequence[str]
) -> Callable[[Mapping[str, str]], Mapping[str, str]]:
    """A function that leaves the annotations by which variants differ.

    Those unknown to the preset go, those of ``variants`` count as channels.
    """

    def kept(annotations: Mapping[str, str]) -> Mapping[str, str]:
        found = dict(annotations)
        for key in annotations:
            of = OPENSHIFT if key == FEATURE_SET or key.startswith(PROFILE) else GATEWAY if key == CHANNEL else preset
            if preset is not None and of != preset:
                del found[key]
        flavour = next((annotations[key] for key in variants if key in annotations), None)
        return found if flavour is None else {**found, CHANNEL: flavour}

    return kept


def contexts_of(documents: Iterable[CrdDocument], others: Iterable[CrdDocument]) -> tuple[Context, ...]:
    """The contexts of a tree: feature sets x profiles (or channels) that occur in it, ``Default`` always.

    ``others`` are the documents of the tree it is compared with: a tree that says nothing about profiles (or
    channels) is the same in each of the other's.
    """
    own, far = _facts(documents), _facts(others)
    if own.channels or (far.channels and not own.is_openshift):
        return tuple(Context(channel=channel) for channel in sorted(own.channels or far.channels))
    if not own.is_openshift and not far.is_openshift:
        return (Context(),)
    profiles = sorted(own.profiles or far.profiles) or [""]
    return tuple(Context(name, profile) for name in sorted(own.sets | {"Default"}) for profile in profiles)


@dataclass(frozen=True, slots=True)
class _Facts:
    sets: frozenset[str]
    profiles: frozenset[str]
    channels: frozenset[str]

    @property
    def is_openshift(self) -> bool:
        return bool(self.sets or self.profiles)


def _facts(documents: Iterable[CrdDocument]) -> _Facts:
    annotations = [document.crd.annotations for document in documents]
    return _Facts(
        frozenset(name for notes in annotations for name in _sets(notes)),
        frozenset(name for notes in annotations for name in _profiles(notes)),
        frozenset(notes[CHANNEL] for notes in annotations if CHANNEL in notes),
    )


def _sets(annotations: Mapping[str, str]) -> list[str]:
    return [name.strip() for name in annotations.get(FEATURE_SET, "").split(",") if name.strip()]


def _profiles(annotations: Mapping[str, str]) -> list[str]:
    """The profiles that include a document; any other value than "true" does not."""
    return [key[len(PROFILE) :] for key, value in annotations.items() if key.startswith(PROFILE) and value == "true"]

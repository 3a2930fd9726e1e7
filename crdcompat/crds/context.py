"""A context: the part of a release that a kind of cluster gets, and the annotations that decide it.

See docs/configuration.md#variants-and-feature-gates.

A context is an OpenShift feature set and cluster profile, a Gateway API channel, or ``default`` where a tree has no
variants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FEATURE_SET = "release.openshift.io/feature-set"
PROFILE = "include.release.openshift.io/"
#: Feature gates that decide whether a cluster gets a manifest; see ``gates.py``.
GATE = "release.openshift.io/feature-gate"
CHANNEL = "gateway.networking.k8s.io/channel"
DEFAULT = "default"
_FIRST_SETS = ("Default", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade")
_FIRST_PROFILE = "self-managed-high-availability"

#: A feature set and a profile; the profile is "" in trees without profiles.
Where = tuple[str, str]


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
        """Whether clusters of this feature set can be neither upgraded nor rolled back."""
        return self.feature_set.endswith("NoUpgrade")

    def includes(self, annotations: Mapping[str, str]) -> bool:
        """Whether a cluster of this context gets a document with these annotations. Without them, each does."""
        if self.channel:
            return annotations.get(CHANNEL, self.channel) == self.channel
        sets, profiles = feature_sets(annotations), profiles_of(annotations)
        return (not self.feature_set or not sets or self.feature_set in sets) and (
            not self.profile or not profiles or self.profile in profiles
        )


def feature_sets(annotations: Mapping[str, str]) -> list[str]:
    """The feature sets that include a document; an empty list: all of them."""
    return [name.strip() for name in annotations.get(FEATURE_SET, "").split(",") if name.strip()]


def profiles_of(annotations: Mapping[str, str]) -> list[str]:
    """The profiles that include a document, by annotations with the value "true"."""
    return [key[len(PROFILE) :] for key, value in annotations.items() if key.startswith(PROFILE) and value == "true"]


def no_context(wanted: str, where: str, known: Collection[str]) -> str:
    """The message for an unknown context: the known ones, and the most similar name."""
    return f"no context {wanted} {where}; there are: {', '.join(known) or 'none'}{did_you_mean(wanted, known)}"


def prominence(context: str) -> tuple[int, bool]:
    """The sort key for names of contexts: the feature set of most clusters first, the profile of upgrade jobs first."""
    feature_set, _, profile = context.partition("/")
    rank = _FIRST_SETS.index(feature_set) if feature_set in _FIRST_SETS else len(_FIRST_SETS)
    return rank, profile != _FIRST_PROFILE


def context_label(a: Context, b: Context) -> str:
    """How the report calls a pair of contexts."""
    return str(a) if str(a) == str(b) else f"{a}={b}"


def named_sides(label: str) -> tuple[str, str]:
    """The names of the contexts of OLD and NEW, by the label of the pair."""
    old, _, new = label.partition("=")
    return old, new or old


def is_terminal(label: str) -> bool:
    """Whether clusters of a context, or of one of a pair ``OLD=NEW``, can be neither upgraded nor rolled back."""
    return any(Context(name.partition("/")[0]).is_terminal for name in named_sides(label))


def is_default(context: str) -> bool:
    """Whether a context has the feature set of most clusters. Without feature sets, every context does."""
    return context.partition("/")[0] == "Default" or "/" not in context

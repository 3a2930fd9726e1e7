"""The facts about a recording of ``crdcompat record``: the last item of its list.

The recording is a List of CRDs and objects, as ``kubectl get -o json`` writes it. A recording for one release has only
the values that matter for a rollback to this release. It is no basis for judging another release.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import orjson
from msgspec import Struct, ValidationError, convert, to_builtins

from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Skipped
from crdcompat.recordings.layouts import Hint
from crdcompat.recordings.telling_kinds import FACTS

_API_VERSION = f"{FACTS.group}/v1"
_REASON = "about the recording"


class Facts(Struct, frozen=True):
    """The content of a recording.

    ``server`` is the version of the cluster's server ("": unknown), ``kinds`` are the kinds with complete lists.
    ``release`` and ``digest`` identify the release for which it was made; both are empty if everything was recorded.
    ``missing`` has the gaps, with their reasons; ``hides``: names or values were replaced.
    """

    server: str
    kinds: tuple[Hint, ...]
    release: str = ""
    digest: str = ""
    missing: tuple[tuple[str, str], ...] = ()
    hides: bool = False


class CaptureFacts(Skipped, frozen=True, kw_only=True):
    """The item of a recording with its facts. Readers skip it: it is no object."""

    facts: Facts

    @property
    def kinds(self) -> tuple[Hint, ...]:
        """The kinds that were listed to the end."""
        return self.facts.kinds


def item_of(facts: Facts) -> dict[str, Any]:
    """The facts as an item of the recording."""
    return {"apiVersion": _API_VERSION, "kind": FACTS.name, "metadata": {"name": "facts"}, "facts": to_builtins(facts)}


def facts_of(path: str, data: Any) -> CaptureFacts | None:
    """The facts in an item of a recording; None for any other item, and for facts that cannot be read."""
    if not isinstance(data, dict) or (data.get("apiVersion"), data.get("kind")) != (_API_VERSION, FACTS.name):
        return None
    try:
        return CaptureFacts(path, _REASON, facts=convert(data.get("facts"), Facts))
    except ValidationError:
        return None


def digest_of(crds: CrdSet) -> str:
    """A digest of the CRDs of a release, without their places."""
    specs = sorted((each.crd.name, _text(each.crd.raw.get("spec"))) for each in crds.documents)
    return blake2b(orjson.dumps(specs), digest_size=16).hexdigest()


def unfit(found: CaptureFacts, old: CrdSet, digest: Callable[[CrdSet], str] = digest_of) -> str:
    """The reason why a recording cannot judge a rollback to OLD; "" if it can. ``digest`` computes the digest of a
    release."""
    facts = found.facts
    if facts.digest and facts.digest != digest(old):
        return f"the recording was made for {facts.release} alone: record the cluster for {old.name}"
    return ""


def _text(spec: Any) -> str:
    return orjson.dumps(spec, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()

"""The options of a comparison besides its two sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.result import Judged
from crdcompat.crds.reader import CrdSet
from crdcompat.models.finding import Location
from crdcompat.vocabulary.filters import UNFILTERED, Filters


class DiffOptions(Struct, frozen=True, eq=False):
    """What a comparison judges and shows. ``command`` is the name that the report gives.

    ``judge_new``, ``judge_old``: CRDs of that side that the API server refuses are findings; without it those of NEW
    are remarks, and OLD is not looked at. ``across_servers``: differences between the
    servers that a release supports are findings. ``advise``: so are new fields of status that will be expensive to
    change. ``locate``: findings have files and lines, and there are remarks. ``more_places`` gives the locations of a
    change outside the manifests. ``without_gates`` are the sets in which a promoted gate is off (None: OLD alone); if
    there is none, no gate counts as promoted. ``released`` are the releases, oldest first, that may have what changes
    (None: OLD alone). ``cache`` may serve several comparisons of sets that one reader has read.
    """

    filters: Filters = UNFILTERED
    command: str = "diff"
    judge_new: bool = True
    judge_old: bool = True
    across_servers: bool = True
    advise: bool = True
    locate: bool = True
    more_places: Callable[[Judged], tuple[Location, ...]] | None = None
    without_gates: Sequence[CrdSet] | None = None
    released: Sequence[CrdSet] | None = None
    cache: ComparisonCache = field(default_factory=ComparisonCache)

"""What a check says of waivers and declarations of growth: notes on all that count, and lines on what a change adds."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from msgspec import Struct

from crdcompat.config.applied import ActiveWaivers, Used
from crdcompat.crds.reader import CrdSet
from crdcompat.features.check.accepted import ahead, counts_later, expired_lines, markers_ahead
from crdcompat.features.check.marker_notes import marker_notes
from crdcompat.features.check.unknown_names import nameless
from crdcompat.features.check.waiver_notes import ends_notes, growth_notes, stale_notes
from crdcompat.findings.source_waivers import Ignore
from crdcompat.findings.waiver_file import Accepted
from crdcompat.findings.waivers import Waiver


class ToldWaivers(Struct, frozen=True, eq=False):
    """The waivers of a check, and what of them its findings ``used``.

    ``accepted`` are all entries of the file, ``added`` the markers in the Go source that the change adds; with ``trust:
    base`` (``counts_at_once`` is false) they count later. ``is_whole``: the check has all findings of the change, so
    that an entry which concerns none of them is needless.
    """

    waivers: ActiveWaivers
    accepted: Accepted
    added: Sequence[Ignore]
    used: Used
    counts_at_once: bool
    is_whole: bool

    def needless(self) -> tuple[str, ...]:
        """Lines on the entries of the change that accept nothing."""
        if not self.is_whole:
            return ()
        ended = self._ended()
        concern = self.used.waivers | {entry for entry, _ in self.used.growth} | set(map(id, ended))
        return (
            *expired_lines(ended),
            *ahead(self.accepted, concern),
            *markers_ahead(self._counting, self.used.markers | {each.place for each in ended}),
        )

    def notes(
        self,
        head: CrdSet,
        compared: frozenset[str],
        touched: Container[str] | None,
        exists: Callable[[str], bool],
        *,
        could_be_stale: bool,
    ) -> tuple[str, ...]:
        """Notes on waivers and declarations that have ended, name nothing or match nothing.

        ``compared`` are the names of the CRDs that have findings if they differ, ``touched`` those whose declarations
        are looked at (None: all). ``could_be_stale``: all findings on them are known. Raises SourceError.
        """
        told = {each.place for each in self._ended()} if self.is_whole else set[str]()
        waivers, used = self.waivers, self.used
        return (
            *ends_notes(waivers, waivers.release, told),
            *nameless(waivers.valid, waivers.file, exists),
            *(stale_notes(waivers, used.waivers, compared) if could_be_stale else ()),
            *marker_notes(waivers, head, compared, used.markers if could_be_stale else None, told),
            *growth_notes(waivers, used.growth, head, touched),
        )

    def later(self) -> tuple[str, ...]:
        """Notes on the markers of the change that count once it is merged."""
        return () if self.counts_at_once else tuple(map(counts_later, self.added))

    @property
    def _counting(self) -> Sequence[Ignore]:
        return self.added if self.counts_at_once else []

    def _ended(self) -> list[Waiver | Ignore]:
        """The waivers of the change that have ended."""
        waivers = self.waivers
        of_source = (each for each in self._counting if not each.fault and each.ended(waivers.today, waivers.release))
        return [*(each for each in waivers.expired if each.of_change), *of_source]

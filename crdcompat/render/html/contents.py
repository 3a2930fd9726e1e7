"""The contents list of a page: an anchor and a name each, with links below a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.render.html.findings import ComparedPart
    from crdcompat.render.html.item import DirectionPart
    from crdcompat.render.html.servers import Parts

Link = tuple[str, str]
Contents = list[tuple[str, str, tuple[Link, ...]]]


def of_findings(parts: Sequence[ComparedPart], *, has_rules: bool) -> Contents:
    """The directions of each comparison with their groups, then the rules."""
    listed: Contents = []
    for number, part in enumerate(parts, 1):
        if part.title:
            listed.append((f"part-{number}", part.title, ()))
        listed += [
            (each.anchor, _name(each), tuple((group.anchor, group.title) for group in each.groups))
            for each in part.directions
        ]
        if not part.title:
            listed.append((f"scope-{number}", "What was compared", ()))
    return [*listed, ("rules", "Rules: why, and fixes", ())] if has_rules else listed


def of_servers(shown: Parts) -> Contents:
    """The table, what is refused, what is ignored."""
    listed: Contents = [("map", "Each CRD on each server", ())]
    listed += [("refusals", "What is refused", ())] if shown.refusals else []
    return [*listed, ("ignored", "What is ignored", ())] if shown.ignored else listed


def _name(part: DirectionPart) -> str:
    return part.direction.capitalize() if part.direction is not None else "Not judged"

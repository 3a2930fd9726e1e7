"""The table of contents of each page: entries with an anchor, a name, and the links below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.render.html.findings import ComparedPart
    from crdcompat.render.html.fleet import Fleet
    from crdcompat.render.html.item import DirectionPart
    from crdcompat.render.html.matrix import Map
    from crdcompat.render.html.preflight import Answer
    from crdcompat.render.html.replay import Replay
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


def of_matrix(shown: Map) -> Contents:
    """The picture, how far back, the cluster, what blocks, the findings."""
    listed: Contents = [("map", "The picture", ()), ("reach", "How far back", ())]
    listed += [("cluster", "The recorded cluster", ())] if shown.cluster is not None else []
    listed += [(f"blocking-{number}", each.title, ()) for number, each in enumerate(shown.blocking, 1)]
    listed += [("unjudged", "What was not judged", ())] if shown.unjudged else []
    return [*listed, ("ways", "The findings", ()), ("rules", "Rules: why, and fixes", ())]


def of_replay(shown: Replay) -> Contents:
    """What is rejected, the objects by verdict, what was not simulated."""
    groups = tuple((group.anchor, group.title) for group in shown.groups)
    listed: Contents = [("causes", "What is rejected", ())] if shown.causes else []
    return [*listed, ("objects", "Objects", groups), ("missed", "Not simulated", ())]


def of_fleet(shown: Fleet) -> Contents:
    """The chart, what blocks, what was not judged, the clusters."""
    listed: Contents = [("far", "How far back", ())]
    listed += [("blocking", "What blocks most", ())] if shown.blocking else []
    listed += [("unjudged", "What was not judged", ())] if shown.unjudged else []
    return [*listed, ("clusters", "Clusters", ())]


def of_servers(shown: Parts) -> Contents:
    """The table, what is refused, what is ignored."""
    listed: Contents = [("map", "Each CRD on each server", ())]
    listed += [("refusals", "What is refused", ())] if shown.refusals else []
    return [*listed, ("ignored", "What is ignored", ())] if shown.ignored else listed


def of_preflight(shown: Answer) -> Contents:
    """The gaps, what is rejected or lost, the steps, the windows, the kinds."""
    listed: Contents = [("missing", "What is missing", ())] if shown.missing else []
    listed += [(each.anchor, each.title, ()) for each in shown.listings]
    listed += [("steps", "What to do", ())] if shown.steps else []
    listed += [("windows", "While CRDs and operator differ", ())] if shown.windows else []
    return [*listed, ("kinds", "What was judged", ())] if shown.kinds else listed


def _name(part: DirectionPart) -> str:
    return part.direction.capitalize() if part.direction is not None else "Not judged"

"""The workflow of ``check``, ``waive`` and ``baseline``: find the change, answer quickly if possible, else compare.

Most changes touch no CRD and should not wait. File names or blob ids from git decide these, without importing the YAML
parser or the comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.errors import MissingObjectsError
from crdcompat.features.check.accepted import counting_text, lines_on
from crdcompat.features.check.base import Change, find_change
from crdcompat.features.check.changed import look_at
from crdcompat.features.check.check_options import CheckOptions, compares_all, find_releases, find_targets
from crdcompat.features.check.kept_growth import has_written
from crdcompat.features.check.opened import open_sides, open_targets
from crdcompat.features.check.quick import nothing_to_check, quick_by_contents, quick_by_names, with_markers
from crdcompat.features.check.rules_of_the_base import find_rules
from crdcompat.features.check.unknown_names import unknown_branches, with_left_out, with_submodules
from crdcompat.prefilter.candidates import unchanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.config.configuration import Config
    from crdcompat.models.check import CheckReport
    from crdcompat.sources.tree import Entry, Tree


def check_by_rules(named: str | None, options: CheckOptions) -> CheckReport:
    """``run_check`` by the rules of the merge base; ``named`` is the configuration file that a person named.

    Raises as ``run_check`` and ``find_rules``.
    """
    rules = find_rules(named, options)
    return rules.shown_in(run_check(rules.config, replace(options, change=rules.change)))


def run_check(config: Config, options: CheckOptions) -> CheckReport:
    """Compare a change with its base, and its head with each rollback target.

    The notes of a report without sections give the reason why there was nothing to check. Raises UsageError,
    ConfigError, SourceError, and RefNotFoundError also for a target that does not exist.
    """
    try:
        report = _check(config, options)
        if options.change is None:
            return report
        lines = lines_on(options.change, config, options.repo, is_judged=bool(report.sections))
        return replace(report, rules=(*report.rules, *lines))
    except MissingObjectsError as error:
        from crdcompat.features.check.missing_history import with_one_advice

        raise with_one_advice(error, config, options) from None


def _check(config: Config, options: CheckOptions) -> CheckReport:
    change = options.change or find_change(options.base, options.head, configured=config.base, repo=options.repo)
    if change is None:
        return nothing_to_check("a branch is being deleted")
    return with_submodules(_of_change(change, config, options), change, config, options.repo)


def _of_change(change: Change, config: Config, options: CheckOptions) -> CheckReport:
    find_targets(change, config, options.targets)  # raises ConfigError also where no CRD changed
    # With these options the targets decide whether there is a quick answer; else they are looked for after it.
    early = find_releases(change, config, options) if options.all_targets or options.targets_only else None
    wants_quick = early is None or not (options.all_targets and early.targets.names)
    wants_quick = wants_quick and not has_written(counting_text(change, config, options.repo), config, change.release)
    report = quick_by_names(change, config.wants, options.repo) if wants_quick else None
    if report is not None and not (config.values["include"] or config.values["exclude"]):
        return report
    trees = open_sides(change, options.repo)
    changed = look_at(trees, config)
    if report is None and wants_quick:
        report = quick_by_contents(change, changed, options.repo)
    if report is not None:
        return with_markers(with_left_out(report, trees, config), trees)
    releases = early or find_releases(change, config, options)
    change, config, targets = releases.change, releases.config, releases.targets

    from crdcompat.crds.context import CHANNEL, FEATURE_SET, GATE, PROFILE
    from crdcompat.prefilter.collect import collect_facts

    options = _with_defaults(options, config)
    annotations = (FEATURE_SET, PROFILE, GATE, CHANNEL, *config.texts("variant_annotations"))
    opened = open_targets(targets, options.repo)
    facts = collect_facts(_skippable(trees, opened, options), annotations, use_cache=options.use_cache)

    from crdcompat.features.check.sections import compare_change  # while git searches

    targets = replace(targets, notes=(*targets.notes, *unknown_branches(change, config, options.repo)))
    report = compare_change(replace(releases, targets=targets), changed, opened, facts, options)
    return report if report.sections else with_markers(with_left_out(report, trees, config), trees)


def _with_defaults(options: CheckOptions, config: Config) -> CheckOptions:
    """The options, completed with values of the configuration."""
    filters = replace(options.filters, contexts=options.filters.contexts or config.texts("contexts"))
    if options.recordings or not config.texts("objects"):
        return replace(options, filters=filters)
    base = options.change.old.removeprefix("git:") if options.change is not None else ""
    return replace(options, filters=filters, recordings=config.recordings, recorded_at=base)


def _skippable(
    trees: tuple[Tree, Tree], targets: Sequence[Tree], options: CheckOptions
) -> list[tuple[Tree, Iterable[Entry]]]:
    """The files that their facts may show to be of no consequence; a file without facts is read."""
    if compares_all(replace(options, all_targets=False)):
        return []
    if compares_all(options):
        return [(trees[0], unchanged((*trees, *targets)).values())]
    return [(trees[0], unchanged(trees).values()), *((tree, tree.entries()) for tree in targets)]

"""Ends a command: writes its report, and gives the exit code that follows from the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.cli.settings import Settings
    from crdcompat.models.report import AnyReport
    from crdcompat.vocabulary import ExitCode


def end(report: AnyReport, settings: Settings, *, existing: bool = False, shown: bool = True) -> ExitCode:
    """Write the report in the formats of the settings, if it is ``shown``. Returns the exit code (design, section 8).

    Standard error names what not every format shows: CRDs that were not compared, and an option that allows an unknown
    verdict. Raises UsageError.
    """
    from crdcompat.render.write import write_reports

    decision = report.judgement.decide(settings.fail_on, allow_unknown=settings.allow_unknown)
    if shown:
        write_reports(
            report,
            settings.formats,
            settings.output.color,
            settings.output.verbosity,
            existing=existing,
            redact=settings.output.redact,
            fails=settings.fail_on,
            allowed=decision.allowed,
        )
    messages = [f"not compared: {reason}" for reason in getattr(report, "not_compared", ())]
    if decision.allowed:
        messages.append(f"the verdict is UNKNOWN, allowed by {decision.allowed}")
    if messages:
        from crdcompat.render.escape import warn

        for message in messages:
            warn(message)
    return decision.code

"""How much a finding matters by default (design, section 4); rules and configuration may say otherwise."""

from __future__ import annotations

SEVERITIES = ("error", "warning", "info")

#: (direction, effect) -> severity; status has its own line where it differs.
_DEFAULT = {
    ("rollback", "crd-rejected"): "error",
    ("rollback", "write-rejected"): "warning",  # only if someone uses the new thing
    ("rollback", "request-failed"): "warning",
    ("upgrade", "crd-rejected"): "error",
    ("upgrade", "write-rejected"): "warning",
    ("upgrade", "request-failed"): "warning",
}
#: Controllers write status by themselves: after a rollback their writes are rejected for ever.
_STATUS = {("rollback", "write-rejected"): "error"}


def default_severity(direction: str, effect: str, owner: str) -> str:
    """``error``, ``warning`` or ``info``."""
    if owner == "status" and (direction, effect) in _STATUS:
        return _STATUS[direction, effect]
    return _DEFAULT.get((direction, effect), "info")


def lowered(severity: str) -> str:
    """One step lower: for feature sets that can never be upgraded or rolled back."""
    return SEVERITIES[min(SEVERITIES.index(severity) + 1, len(SEVERITIES) - 1)]


def at_least(severity: str, threshold: str) -> bool:
    """Whether ``severity`` is as high as ``threshold`` or higher."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(threshold)

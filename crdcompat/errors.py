"""What can go wrong that is the input's doing, not ours.

Every message says what, where, and what to do. The command line turns any of these into exit code 2
(could not do what was asked); anything else that escapes is a bug and exits 3.
"""

from __future__ import annotations


class CrdcompatError(Exception):
    """Base of all errors caused by input or usage; ``str()`` is one or more readable lines."""


class UsageError(CrdcompatError):
    """The command was asked for something that makes no sense (bad option value, nothing to compare)."""


class SourceError(CrdcompatError):
    """A source could not be opened or read: no such path, not a repository, git failed."""


class RefNotFoundError(SourceError):
    """A git ref is not there.

    ``ref`` is the name as given, ``near`` the names that look like it; the message prints the exact
    ``git fetch`` line, because the tool itself never fetches.
    """

    def __init__(self, ref: str, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ref = ref
        self.near = near

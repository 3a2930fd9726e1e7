"""Entry of the command line. Exit 2: input error; 3: internal error, with a line on how to report it."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
from contextlib import suppress
from contextvars import copy_context
from typing import Any, NoReturn

from crdcompat.errors import CrdcompatError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class _LossyFile(io.FileIO):
    """A file that drops what it cannot write: a lost message must not change the exit code."""

    def write(self, data: Any, /) -> int:
        with suppress(OSError):
            super().write(data)
        return len(data)


def main() -> NoReturn:
    """Run the command line and exit (docs/formats.md#exit-codes)."""
    # Most objects live to the end of a run: few passes of the collector, and none at exit.
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)
    _open_output()
    try:
        code = copy_context().run(_run)  # what a run sets for itself ends with it
        sys.stdout.flush()
    except CrdcompatError as error:
        _warn(str(error))
        _not_done()
    except BrokenPipeError:
        _discard_output()
        _not_done()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            _warn(f"standard output cannot be written: {error.strerror}")
            _discard_output()
            _not_done()
        if os.environ.get("CRDCOMPAT_TRACEBACK"):
            raise
        _crashed(error)
    sys.exit(code)


def _run() -> int | str | None:
    """The exit code of the command."""
    from crdcompat.cli.app import app
    from crdcompat.program import typed

    try:
        app(prog_name=typed())
    except SystemExit as done:
        return done.code
    return 0


def _open_output() -> None:
    """Make the output streams writable whatever the locale is, and where the caller has closed them."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif isinstance(stream, io.TextIOWrapper):
            # A terminal shows the characters of its locale; a file or pipe is read by a program, which expects UTF-8.
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
            if stream is sys.__stderr__:
                lossy = _LossyFile(2, "w", closefd=False)
                sys.stderr = io.TextIOWrapper(lossy, stream.encoding, stream.errors, write_through=True)


def _discard_output() -> None:
    """Nobody can read what is still buffered; without this, Python would fail to write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _not_done() -> NoReturn:
    from crdcompat.vocabulary import ExitCode

    sys.exit(ExitCode.NOT_DONE)


def _warn(message: str) -> None:
    from crdcompat.render.escape import warn

    warn(message)


def _crashed(error: Exception) -> NoReturn:
    from crdcompat.render.escape import say
    from crdcompat.version import __version__
    from crdcompat.vocabulary import ExitCode

    summary = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    say(
        f"crdcompat {__version__} crashed ({summary}): this is a bug; please report it with the command line and, if"
        " you can, the input (CRDCOMPAT_TRACEBACK=1 shows where)",
        error=True,
    )
    sys.exit(ExitCode.CRASHED)


if __name__ == "__main__":
    main()

"""Entry of the command line. Exit 2: input error; 3: internal error, with a line on how to report it."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import NoReturn

from crdcompat.errors import CrdcompatError


def main() -> NoReturn:
    """Run the command line and exit (design, section 8)."""
    # Most objects live to the end of a run: few passes of the collector, and none at exit.
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)
    from crdcompat.cli.app import app

    try:
        app(prog_name="crdcompat")
    except CrdcompatError as error:
        print(f"crdcompat: {error}", file=sys.stderr)
        _not_done()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _not_done()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if os.environ.get("CRDCOMPAT_TRACEBACK"):
            raise
        _crashed(error)
    sys.exit(0)


def _not_done() -> NoReturn:
    from crdcompat.vocabulary import ExitCode

    sys.exit(ExitCode.NOT_DONE)


def _crashed(error: Exception) -> NoReturn:
    from crdcompat.version import __version__
    from crdcompat.vocabulary import ExitCode

    summary = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    print(
        f"crdcompat {__version__} crashed ({summary}): this is a bug; please report it with the command line and, if"
        " you can, the input (CRDCOMPAT_TRACEBACK=1 shows where)",
        file=sys.stderr,
    )
    sys.exit(ExitCode.CRASHED)


if __name__ == "__main__":
    main()

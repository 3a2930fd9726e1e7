"""Entry of the command line: what is the input's doing exits 2, a crash of ours says so and exits 3."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import NoReturn

from crdcompat.errors import CrdcompatError

#: So many new objects between two passes of the garbage collector: some 20 MB.
_OBJECTS_BETWEEN = 200_000


def main() -> NoReturn:
    """Run the command line and exit (design, section 8)."""
    # Most of what a run makes stays to its end: to look for what can go after every 700 new ones, as Python does, takes
    # a twentieth of a quick run.
    gc.set_threshold(_OBJECTS_BETWEEN)
    from crdcompat.cli.app import app

    # At its end Python would look through everything once more for what can go; all of it goes with the process.
    atexit.register(gc.freeze)
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

    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    print(
        f"crdcompat {__version__} crashed ({what}): this is a bug; please report it with the command line and, if"
        " you can, the input (CRDCOMPAT_TRACEBACK=1 shows where)",
        file=sys.stderr,
    )
    sys.exit(ExitCode.CRASHED)


if __name__ == "__main__":
    main()

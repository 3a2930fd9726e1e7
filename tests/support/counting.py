"""Run the program with the arguments given, and write to the file named first what it cost: calls or peak memory.

``python counting.py calls FILE diff OLD NEW``. ``calls`` are those of Python functions, built-in ones and steps of
generators included; ``memory`` is in KiB, and known on Linux.
"""

from __future__ import annotations

import cProfile
import json
import os
import re
import sys
from pathlib import Path
from typing import NoReturn

from crdcompat import __main__ as program


def _peak() -> int:
    """The peak of the memory; 0 where the system does not name it. That of getrusage is the parent's, too."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s*(\d+)", status.read_text(encoding="utf-8")) if status.is_file() else None
    return int(found[1]) if found else 0


def main() -> None:
    what, file, *sys.argv[1:] = sys.argv[1:]
    profile = cProfile.Profile()

    def finish(code: int) -> NoReturn:
        profile.disable()
        cost = _peak() if what == "memory" else sum(entry.callcount for entry in profile.getstats())
        Path(file).write_text(json.dumps({"code": code, "cost": cost}), encoding="utf-8")
        sys.stdout.flush()
        leave(code)

    leave = os._exit
    os._exit = finish  # the program ends so, without taking its objects apart
    if what == "calls":
        profile.enable()
    try:
        program.main()
    except SystemExit as ended:
        finish(int(ended.code or 0))
    finish(0)


main()

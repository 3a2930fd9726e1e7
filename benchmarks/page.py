"""The HTML page: what it costs to make, how large it is, and how fast a browser opens and filters it. See README.md."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import crdcompat
from crdcompat.findings.excerpts import with_excerpts
from crdcompat.findings.finding import order
from crdcompat.models.diff import DiffReport
from crdcompat.render.escape import Style
from crdcompat.render.formats.html import render
from crdcompat.vocabulary import Severity

_HERE = Path(__file__).resolve().parent
_BUNDLE = _HERE.parents[1] / "shared/data/openshift-api-4.12-4.16.bundle"
_MANY = 5_000


def main() -> None:
    if not _BUNDLE.is_file():
        sys.exit(f"benchmarks: no ../shared/{_BUNDLE.relative_to(_HERE.parents[1] / 'shared')} beside the project")
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "api"
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), str(clone)], check=True)
        old, new = (crdcompat.load(f"git:origin/release-4.{minor}", repo=str(clone)) for minor in (12, 16))
        report = crdcompat.diff(old, new)
        print(f"{'HTML page':44} {'findings':>8} {'excerpts':>9} {'render':>9} {'size':>9}")
        for name, each in (
            ("release-4.12 to 4.16, the largest diff", report),
            ("as many as a page holds", _many(report)),
        ):
            shown, gathering = _timed(partial(with_excerpts, each, old, new, Severity.INFO))
            text, rendering = _timed(partial(render, shown, Style()))
            size = len(text.encode()) / 2**20
            print(f"{name:44} {len(shown.findings):8} {gathering:7.3f} s {rendering:7.3f} s {size:5.1f} MiB")
        file = Path(scratch) / "page.html"
        file.write_text(text, "utf-8")
        _browse(file, Path(scratch) / "profile")


def _many(report: DiffReport) -> DiffReport:
    """The same findings many times over, each time with other ids."""
    rounds = range(_MANY // len(report.findings) + 1)
    copies = (replace(each, id=f"{number:04x}{each.id[4:]}") for number in rounds for each in report.findings)
    return replace(report, findings=tuple(sorted(list(copies)[:_MANY], key=order)))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    done = work()
    return done, time.process_time() - start


def _browse(file: Path, profile: Path) -> None:
    """How long a browser takes, by its own clock; nothing where there is none."""
    sys.path.insert(0, str(_HERE.parent / "tests/support"))
    from browser import chromium, find_chromium

    if find_chromium() is None:
        print("no chromium and chromedriver in PATH: how fast the page opens was not measured")
        return
    with chromium(profile) as browser:
        browser.open(file)
        opened = browser.js("return performance.getEntriesByType('navigation')[0].loadEventEnd")
        click = "document.querySelector('#filters input[value=error]').click()"
        search = "document.getElementById('q').value = 'platform'; document.forms[0].requestSubmit()"
        spans = [browser.js(f"const start = performance.now(); {step}; document.body.offsetHeight;"
                            "return performance.now() - start") for step in (click, click, search)]  # fmt: skip
    print(
        f"{_MANY} findings in Chromium: open {opened:.0f} ms, filter {spans[0]:.0f} ms, first search {spans[2]:.0f} ms"
    )


if __name__ == "__main__":
    main()

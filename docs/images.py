"""Make the images of the README from real output: the matrix of openshift/api, and one finding of the demo.

    python docs/images.py

The matrix is of a new clone made from the bundle beside the project. Needs Chromium and chromedriver.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_BUNDLE = _HERE.parents[1] / "shared/data/openshift-api-4.12-4.16.bundle"
_RELEASES = [f"release-4.{minor}" for minor in range(12, 17)]
_WIDTH, _MARGIN = 1100, 8
_CRDCOMPAT = str(Path(sys.executable).with_name("crdcompat"))
#: For each image the command, where it runs, what is done on its page, and what is shown: from one element to another.
_IMAGES = {
    "matrix": (["matrix", *_RELEASES], None, "", ".grid", ".grid"),
    "finding": (
        ["diff", *_RELEASES[1:3]],
        _HERE.parent / "fixtures/demo",
        "document.querySelector('.item').open = true",
        ".item",
        ".item .sides-by-side",
    ),
}


def main() -> None:
    sys.path.insert(0, str(_HERE.parent / "tests/support"))
    from browser import Browser, chromium, find_chromium

    if not _BUNDLE.is_file() or find_chromium() is None:
        sys.exit("images: needs the bundle of openshift/api beside the project, chromium and chromedriver")

    def shot(browser: Browser, page: Path, prepare: str, first: str, last: str) -> bytes:
        browser.open(page, width=_WIDTH)
        browser.js(prepare)
        box = browser.js(
            "const [first, last] = [...arguments].map((name) => document.querySelector(name).getBoundingClientRect());"
            "return [first.left + scrollX, first.top + scrollY, first.width, last.bottom - first.top]",
            first,
            last,
        )
        left, top, width, height = box
        clip = {"x": left - _MARGIN, "y": top - _MARGIN, "width": width + 2 * _MARGIN, "height": height + 2 * _MARGIN}
        data = browser.cdp(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={**clip, "scale": 1}
        )
        return base64.b64decode(data["data"])

    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "api"
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), str(clone)], check=True)
        with chromium(Path(scratch) / "profile") as browser:
            for name, (command, folder, prepare, first, last) in _IMAGES.items():
                page = Path(scratch) / f"{name}.html"
                done = subprocess.run([_CRDCOMPAT, *command, "--format", f"html={page}"], cwd=folder or clone)
                assert done.returncode == 1, command
                (_HERE / "images").mkdir(exist_ok=True)
                (_HERE / "images" / f"{name}.png").write_bytes(shot(browser, page, prepare, first, last))


if __name__ == "__main__":
    main()

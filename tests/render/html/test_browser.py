"""The HTML page as a browser shows it: open, filter, expand, copy, print, with and without a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from browser import Browser, address, choose, chromium, shown, tick, visible
from helpers import crd, obj, root, run, string, write
from msgspec.structs import replace
from report_samples import HOSTILE, check, hostile_check, rendered, replayed, sample, widget

from crdcompat.package_data import data_dir

pytest.importorskip("selenium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def held(top: Path, report: object) -> Path:
    file = top / "report.html"
    file.write_text(rendered(report, "html"), "utf-8")  # type: ignore[arg-type]
    return file


# -- real reports ---------------------------------------------


# -- our own ---------------------------------------------


def test_a_check_hides_what_does_not_count_until_asked(browser: Browser, tmp_path: Path) -> None:
    browser.open(held(tmp_path, check(tmp_path)))
    aside = "return [...document.querySelectorAll('.aside')].map((each) => each.open)"
    assert browser.js(aside) == [False, False]
    assert shown(browser) == "4 findings; 1 more from before this change (status: existing)"
    tick(browser, "status", "waived")
    assert shown(browser) == "Showing 1 of 5 findings"
    assert browser.js(aside) == [False, True]
    assert browser.js("return document.querySelector('.item:not([hidden])').checkVisibility()")
    tick(browser, "status", "existing")
    assert len(visible(browser)) == 2
    tick(browser, "status", "existing")
    tick(browser, "status", "waived")
    choose(browser, "section", "target r9")
    assert len(visible(browser)) == 3
    assert browser.complaints() == []


def on_screen(browser: Browser) -> list[str]:
    found = "[...document.querySelectorAll('.item')].filter((item) => item.checkVisibility()).map((item) => item.id)"
    return browser.js(f"return {found}")


def test_what_stood_there_before_is_hidden_until_asked(browser: Browser, tmp_path: Path) -> None:
    """Whatever else is filtered by: its count is shown, its status brings it, and its heading opens it."""
    report = check(tmp_path)
    (old,) = [finding for finding in report.findings if finding.status == "existing"]
    file = held(tmp_path, report)
    browser.open(file)
    (existing,) = browser.js("return [...document.querySelectorAll('.held .item')].map((item) => item.id)")
    assert existing.startswith(f"f-{old.id}")
    assert existing not in on_screen(browser)
    tick(browser, "severity", old.severity)
    assert existing not in visible(browser)
    others = len({finding.id for finding in report.findings if finding.severity == old.severity and finding.counts})
    assert shown(browser) == f"Showing {others} of 4 findings; 1 more from before this change (status: existing)"
    chip = "return document.querySelector(`[data-facet=${arguments[0]}] [value=${arguments[1]}]`).parentElement"
    assert browser.js(f"{chip}.innerText", "status", "existing").split() == ["existing", "1"]
    assert browser.js(f"{chip}.innerText", "severity", old.severity).split() == [old.severity, str(others)]
    tick(browser, "status", "existing")
    assert on_screen(browser) == [existing]
    assert shown(browser) == "Showing 1 of 5 findings"
    browser.open(file, address(browser))
    assert on_screen(browser) == [existing]
    browser.js("document.getElementById('clear').click()")
    browser.pause()
    assert existing not in on_screen(browser)
    browser.driver.find_element("css selector", ".held > summary").click()
    assert existing in on_screen(browser)
    browser.open(file, f"#{existing}")
    browser.pause()
    assert existing in on_screen(browser)
    assert shown(browser) == "4 findings; 1 more from before this change (status: existing)"
    assert browser.complaints() == []


def test_what_stood_there_before_without_a_script(browser: Browser, tmp_path: Path) -> None:
    browser.open(held(tmp_path, check(tmp_path)), scripts=False)
    (existing,) = browser.js("return [...document.querySelectorAll('.held .item')].map((item) => item.id)")
    assert existing not in on_screen(browser)
    summary = browser.driver.find_element("css selector", ".held > summary")
    assert summary.text == "1 finding from before this change"
    summary.click()
    assert existing in on_screen(browser)


@pytest.mark.parametrize("scripts", [True, False])
def test_all_shows_what_stood_there_before(browser: Browser, tmp_path: Path, *, scripts: bool) -> None:
    report = check(tmp_path)
    file = tmp_path / "all.html"
    file.write_text(rendered(report, "html", existing=True), "utf-8")
    browser.open(file, scripts=scripts)
    assert len(on_screen(browser)) == 4  # what is waived stays folded
    if scripts:
        assert shown(browser) == "5 findings"
        tick(browser, "severity", "info")
        assert shown(browser) == "Showing 1 of 5 findings"


def test_where_all_stood_there_before_it_is_what_is_filtered(browser: Browser, tmp_path: Path) -> None:
    report = sample(tmp_path)
    there = tuple(replace(finding, status="existing") for finding in report.findings)
    browser.open(held(tmp_path, replace(report, findings=there)))
    assert on_screen(browser) == []
    assert shown(browser) == "3 findings"
    tick(browser, "severity", "error")
    assert on_screen(browser) == [f"f-{there[0].id}"]


def test_a_simulation(browser: Browser, tmp_path: Path) -> None:
    browser.open(held(tmp_path, replayed(tmp_path, widget("one", "B"), widget("two"))))
    assert shown(browser) == "2 objects"
    tick(browser, "verdict", "rejected")
    assert visible(browser) == ["o-1"]
    browser.js("document.querySelector('.item summary').click()")
    assert "status-update" in browser.js("return document.querySelector('.item .body').innerText")
    assert browser.complaints() == []


def press(browser: Browser, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser.driver).send_keys(*keys).perform()


def test_keys_search_move_and_help(browser: Browser, tmp_path: Path) -> None:
    report = sample(tmp_path)
    browser.open(held(tmp_path, report))
    ids = [f"f-{finding.id}" for finding in report.findings]
    at = "return document.activeElement.closest('.item')?.id"
    found = []
    for key in "jjjjkk":
        press(browser, key)
        found.append(browser.js(at))
    assert found == [ids[0], ids[1], ids[2], ids[2], ids[1], ids[0]]
    press(browser, "/")
    assert browser.js("return document.activeElement.id") == "q"
    press(browser, "j", "?")  # what is typed into the search is no command
    assert browser.js("return document.getElementById('q').value") == "j?"
    assert browser.js("return document.getElementById('keys').open") is False
    browser.js("document.activeElement.blur()")
    press(browser, "?")
    assert browser.js("return document.getElementById('keys').open")
    browser.driver.find_element("css selector", "#close-keys").click()
    assert browser.js("return document.getElementById('keys').open") is False
    assert browser.complaints() == []


def test_a_mark_opens_its_finding(browser: Browser, tmp_path: Path) -> None:
    report = sample(tmp_path)
    browser.open(held(tmp_path, report))
    browser.driver.find_element("css selector", ".dots .warning").click()
    browser.pause()
    assert browser.js("return [...document.querySelectorAll('.item[open]')].map((item) => item.id)") == [
        f"f-{report.findings[1].id}"
    ]
    assert browser.complaints() == []


def test_filters_are_beside_the_findings(browser: Browser, tmp_path: Path) -> None:
    browser.open(held(tmp_path, sample(tmp_path)))
    box = "const {left, top, right} = document.querySelector(arguments[0]).getBoundingClientRect();"
    edges = f"{box} return [left, top, right]"
    (_, top, right), (left, first, _) = browser.js(edges, "aside"), browser.js(edges, "main")
    assert right <= left
    assert abs(top - first) < 10


@pytest.mark.parametrize("command", ["servers", "matrix"])
def test_names_of_rows_leave_room_for_cells_on_a_phone(browser: Browser, tmp_path: Path, command: str) -> None:
    """The names stay in view while the table is scrolled below them."""
    long = {**crd(root(spec=obj(a=string("A")))), "metadata": {"name": "extraordinarilylongnames.group.example.com"}}
    long["spec"].update(group="group.example.com", names={"plural": "extraordinarilylongnames", "kind": "Long"})
    rule = {"x-kubernetes-validations": [{"rule": "isCIDR(self)"}]}
    write(tmp_path / "v1.1.0/w.json", json.dumps(long))
    long["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"].update(rule)
    write(tmp_path / "v1.2.0/w.json", json.dumps(long))
    asked = ("./v1.2.0", "--kubernetes", "1.30,1.31") if command == "servers" else ("./v1.1.0", "./v1.2.0")
    run(command, *asked, "--format", "html=page.html", cwd=tmp_path)
    browser.open(tmp_path / "page.html", width=320, height=900, touch=True)
    box = "const box = document.querySelector(arguments[0]).getBoundingClientRect()"
    size = f"{box}; return [box.width, box.height, box.left]"
    width, height, _ = browser.js(size, ".grid tbody th")
    assert 70 < width < 180
    assert height < 140
    assert browser.js(size, ".grid tbody td")[2] < 220


def test_a_matrix_of_thirteen_releases_fits_a_screen_and_paper(browser: Browser, tmp_path: Path) -> None:
    names = [f"release-4.{minor}" for minor in range(10, 23)]
    for number, name in enumerate(names):
        write(tmp_path / name / "w.json", json.dumps(crd(root(status=obj(a=string(*"ABCDEFGHIJKLMN"[: number + 1]))))))
    run("matrix", *(f"./{name}" for name in names), "--format", "html=page.html", cwd=tmp_path)
    browser.open(tmp_path / "page.html", width=1280)
    room = "const part = document.querySelector('.scroll'); return [part.scrollWidth, part.clientWidth]"
    wide, there = browser.js(room)
    assert wide == there == 1216
    assert browser.js("return document.querySelector('.grid tbody td .figure').getAttribute('aria-label')") == "1 error"
    browser.open(tmp_path / "page.html", width=703)
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    assert browser.js("return document.querySelector('.grid').offsetWidth") <= 703


def test_code_that_is_too_long_goes_on_below(browser: Browser, tmp_path: Path) -> None:
    """It is not cut off, and stands to the right of the numbers."""
    demo = data_dir("fixtures") / "demo"
    run("diff", "release-4.13", "release-4.14", "--format", f"html={tmp_path / 'page.html'}", cwd=demo)
    browser.open(tmp_path / "page.html", width=390)
    browser.js("document.querySelector('.item').open = true")
    lines = (
        "const frames = document.querySelector('.item').querySelectorAll('.excerpt pre');"
        "return [...frames].map((each) => [each.scrollWidth - each.clientWidth,"
        " getComputedStyle(each.querySelector('span')).textIndent.startsWith('-')])"
    )
    assert browser.js(lines) == [[0, True], [0, True]]


def test_paper_shows_a_summary_and_what_is_open(browser: Browser, tmp_path: Path) -> None:
    report = sample(tmp_path)
    browser.open(held(tmp_path, report))
    browser.js("document.getElementById(arguments[0]).open = true", f"f-{report.findings[1].id}")
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    seen = "return document.querySelector(arguments[0]).checkVisibility({contentVisibilityAuto: true})"
    for hidden in ("aside", ".rules", ".item.error .body", ".item.info", "footer"):
        assert not browser.js(seen, hidden), hidden
    for printed in (".answer", ".rows", ".item.error summary", ".item.error .said", ".item.warning .body"):
        assert browser.js(seen, printed), printed


@pytest.mark.parametrize("text", [*HOSTILE, "</script><script>alert(1)</script><!--", "\"'><b onclick=x>"])
def test_hostile_text_is_inert(browser: Browser, tmp_path: Path, text: str) -> None:
    file = held(tmp_path, hostile_check(tmp_path, text))
    browser.open(file)
    browser.js("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert browser.js("return document.scripts.length") == 2
    assert browser.js("return document.querySelectorAll('img, b, iframe, [onclick], [onload]').length") == 0
    values = browser.js("return [...document.querySelectorAll('[data-facet=crd] option')].map((each) => each.value)")
    for value in values[1:]:
        choose(browser, "crd", value)
        assert 0 < len(visible(browser)) < int(shown(browser).split()[3])
        hash_ = address(browser)
        browser.open(file, hash_)
        assert browser.js("return document.querySelector('[data-facet=crd]').value") == value
    assert browser.complaints() == []


def test_the_policy_refuses_what_is_not_ours(browser: Browser, tmp_path: Path) -> None:
    """So that no complaint means something: a page that a script got into complains, and the script does not run."""
    file = held(tmp_path, sample(tmp_path))
    text = file.read_text("utf-8").replace("<footer>", "<script>window.ran = 1</script><footer>")
    file.write_text(text, "utf-8")
    browser.open(file)
    assert browser.js("return window.ran") is None
    assert any("Content Security Policy" in each for each in browser.complaints())


@pytest.mark.parametrize(
    "policy",
    [
        "sandbox; default-src 'none'; img-src 'self'; style-src 'self'",
        "sandbox allow-same-origin; default-src 'none'; style-src 'unsafe-inline'",
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'",
        "default-src 'none'",
    ],
)
def test_as_an_artifact_of_a_service_that_allows_no_script(browser: Browser, tmp_path: Path, policy: str) -> None:
    """Served with a policy of the service's own, the page shows everything, and no control that does nothing."""
    report = sample(tmp_path)
    held(tmp_path, report)
    with served(tmp_path, {"Content-Security-Policy": policy}) as address:
        browser.visit(f"{address}/report.html")
        assert browser.js("return document.documentElement.classList.contains('js')") is False
        first = browser.driver.find_element("css selector", ".item summary")
        assert first.is_displayed()
        assert report.findings[0].message.removeprefix("status.p ") in first.text
        first.click()
        body = browser.driver.find_element("css selector", ".item .body").text
        assert report.findings[0].witness.errors[0] in body
        assert "status:\n  p: B" in body
        for hidden in browser.driver.find_elements("css selector", "#filters, .copy, #nothing"):
            assert not hidden.is_displayed()


@contextmanager
def served(folder: Path, headers: dict[str, str]) -> Iterator[str]:
    """A folder served on the loopback interface, with more headers."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def end_headers(self) -> None:
            for name, value in headers.items():
                self.send_header(name, value)
            super().end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()

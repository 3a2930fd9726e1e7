"""The HTML page as a browser shows it: open, filter, expand, copy, print, with and without a script."""

from __future__ import annotations

import json
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
from browser import Browser, chromium
from helpers import run
from report_samples import HOSTILE, check, hostile_check, rendered, replayed, sample, widget

pytest.importorskip("selenium")

WIDTHS = {"desk": 1280, "phone": 390}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def real(openshift_api: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of real releases: the largest diff, with its JSON, a check, and the matrix of all."""
    top = tmp_path_factory.mktemp("real")
    subprocess.run(["git", "-C", str(openshift_api), "branch", "release-4.14", "origin/release-4.14"], check=True)
    formats = ("--format", f"html={top / 'diff.html'}", "--format", f"json={top / 'diff.json'}")
    assert run("diff", "release-4.12", "release-4.16", *formats, cwd=openshift_api).code == 1
    head = ("--base", "origin/release-4.15", "--head", "release-4.16", "--target", "release-4.14")
    assert run("check", *head, "--format", f"html={top / 'check.html'}", cwd=openshift_api).code == 1
    releases = [f"origin/release-4.{minor}" for minor in range(12, 16)]
    assert (
        run("matrix", *releases, "release-4.16", "--format", f"html={top / 'matrix.html'}", cwd=openshift_api).code == 1
    )
    return {name: top / f"{name}.html" for name in ("diff", "check", "matrix")}


def held(top: Path, report: object) -> Path:
    file = top / "report.html"
    file.write_text(rendered(report, "html"), "utf-8")  # type: ignore[arg-type]
    return file


def visible(browser: Browser) -> list[str]:
    return browser.js("return [...document.querySelectorAll('.item:not([hidden])')].map((item) => item.id)")


def ids(browser: Browser) -> list[str]:
    """The ids of the findings shown; of several with one id, the others have a number behind it on the page."""
    return [anchor.split("-")[1] for anchor in visible(browser)]


def shown(browser: Browser) -> str:
    return browser.js("return document.getElementById('shown').textContent")


def tick(browser: Browser, facet: str, value: str) -> None:
    browser.js("document.querySelector(`[data-facet=${arguments[0]}] [value='${arguments[1]}']`).click()", facet, value)


def choose(browser: Browser, facet: str, value: str) -> None:
    browser.js(
        "const list = document.querySelector(`[data-facet=${arguments[0]}]`); list.value = arguments[1];"
        "list.dispatchEvent(new Event('change', {bubbles: true}))", facet, value,
    )  # fmt: skip


def search(browser: Browser, text: str) -> None:
    browser.js("document.getElementById('q').value = arguments[0]; document.forms[0].requestSubmit()", text)


def texts(browser: Browser, selector: str) -> list[str]:
    return browser.js("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector)


def address(browser: Browser) -> str:
    return browser.js("return location.hash")


# -- real reports ---------------------------------------------


def test_each_filter_shows_what_the_report_has(browser: Browser, real: dict[str, Path]) -> None:
    findings = json.loads(real["diff"].with_suffix(".json").read_text("utf-8"))["findings"]
    browser.open(real["diff"])
    assert shown(browser) == f"{len(findings)} findings"
    cases = [
        *(("severity", value, lambda f, v: f["severity"] == v) for value in ("error", "warning", "info")),
        *(("direction", value, lambda f, v: f["direction"] == v) for value in ("rollback", "upgrade")),
        *(("owner", value, lambda f, v: f["owner"] == v) for value in ("status", "spec", "metadata", "crd")),
        ("crd", "clusterversions.config.openshift.io", lambda f, v: f["crd"] == v),
        ("context", findings[0]["contexts"][0], lambda f, v: v in f["contexts"]),
        ("rule", "enum-value-added", lambda f, v: f["rule"] == v),
    ]
    for facet, value, holds in cases:
        wanted = [finding["id"] for finding in findings if holds(finding, value)]
        assert 0 < len(wanted) < len(findings) or facet == "context"
        use = tick if facet in ("severity", "direction", "owner") else choose
        use(browser, facet, value)
        assert ids(browser) == wanted, (facet, value)
        assert shown(browser) == f"Showing {len(wanted)} of {len(findings)} findings"
        assert address(browser) == f"#{facet}={quote(value, safe='')}".replace("%20", "+")
        use(browser, facet, value if use is tick else "")
    assert len(visible(browser)) == len(findings)
    assert address(browser) == ""
    search(browser, "external STATUS.platform")
    assert {f["path"] for f in findings if f["id"] in ids(browser)} >= {"status.platform"}
    assert 0 < len(visible(browser)) < len(findings)
    assert browser.complaints() == []


def test_filters_work_together_and_counts_follow(browser: Browser, real: dict[str, Path]) -> None:
    findings = json.loads(real["diff"].with_suffix(".json").read_text("utf-8"))["findings"]
    browser.open(real["diff"])
    tick(browser, "severity", "warning")
    tick(browser, "severity", "error")
    tick(browser, "direction", "rollback")
    wanted = [f for f in findings if f["direction"] == "rollback" and f["severity"] != "info"]
    assert ids(browser) == [finding["id"] for finding in wanted]
    counts = dict(browser.js(
        "return [...document.querySelectorAll('[data-facet=owner] label, [data-facet=severity] label')]"
        ".map((label) => [label.querySelector('input').value, Number(label.querySelector('.count').textContent)])"
    ))  # fmt: skip
    owners = Counter(finding["owner"] for finding in wanted)
    severities = Counter(f["severity"] for f in findings if f["direction"] == "rollback")
    assert {name: count for name, count in counts.items() if count} == {**owners, **severities}
    headings = browser.js(
        "return [...document.querySelectorAll('.direction:not([hidden]) > :is(h2, h3)')].map(h => h.textContent)"
    )
    assert headings == ["Rolling back release-4.16 → release-4.12"]
    # A link, or a reload, shows the same.
    hash_ = address(browser)
    browser.open(real["diff"], hash_)
    assert ids(browser) == [finding["id"] for finding in wanted]
    browser.js("document.getElementById('clear').click()")
    browser.pause()
    assert len(visible(browser)) == len(findings)
    search(browser, "no such thing anywhere")
    assert visible(browser) == []
    assert browser.js("return document.getElementById('nothing').checkVisibility()")
    assert browser.complaints() == []


def test_a_link_opens_its_finding_even_if_filters_hide_it(browser: Browser, real: dict[str, Path]) -> None:
    browser.open(real["diff"])
    last = visible(browser)[-1]
    browser.open(real["diff"], f"#{last}")
    browser.pause()
    assert browser.js("return document.getElementById(arguments[0]).open", last)
    assert browser.js("return document.activeElement.parentElement.id") == last
    tick(browser, "severity", "error")
    assert last not in visible(browser)
    browser.js("location.hash = arguments[0]", last)
    browser.pause()
    assert last in visible(browser)
    browser.js("document.querySelector('.item a[href=\"#rule-enum-value-added\"]').click()")
    browser.pause()
    assert browser.js("return document.getElementById('rule-enum-value-added').open")
    assert browser.complaints() == []


def test_expand_shows_both_sides_with_the_changed_lines(browser: Browser, real: dict[str, Path]) -> None:
    browser.open(real["diff"])
    browser.js("document.querySelector('.item summary').click()")
    text = browser.js("return document.querySelector('.item .body').innerText")
    for part in ("API server", "Unsupported value", "Way out:", "OLD config/v1/", "NEW config/v1/", "Witness"):
        assert part in text
    marked = "".join(texts(browser, ".item[open] .new mark"))
    assert [line.split()[-1] for line in marked.splitlines() if "- " in line] == [
        "NodeTuning", "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry", "OperatorLifecycleManager",
        "CloudCredential", "Ingress", "CloudControllerManager",
    ]  # fmt: skip
    tick(browser, "severity", "error")
    browser.js("document.getElementById('open-all').click()")
    assert browser.js("return document.querySelectorAll('.item[open]').length") == 5
    browser.js("document.getElementById('close-all').click()")
    assert browser.js("return document.querySelectorAll('.item[open]').length") == 0
    assert browser.complaints() == []


@pytest.mark.parametrize("allowed", [True, False])
def test_copy(browser: Browser, real: dict[str, Path], allowed: bool) -> None:
    browser.open(real["diff"])
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.js("document.querySelector('.item summary').click()")
    if not allowed:
        browser.js("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    browser.js("document.addEventListener('copy', () => { window.copied = String(getSelection()); })")
    browser.driver.find_element("css selector", ".item .copy").click()  # a person's click: a script may not copy
    browser.pause()
    assert browser.js("return document.querySelector('.item .copy').textContent") == "Copied"
    assert browser.js("return document.getElementById('said').textContent") == "Copied"
    text = browser.js("return document.querySelector('.item .copyable pre').textContent")
    if allowed:
        assert browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == f"{text}\n"
    else:
        assert browser.js("return window.copied") == text
    assert text.startswith("apiVersion: config.openshift.io/v1\nkind: ClusterVersion\n")
    assert "    - NodeTuning" in text
    assert browser.complaints() == []


def test_keyboard(browser: Browser, real: dict[str, Path]) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(*keys: str) -> None:
        ActionChains(browser.driver).send_keys(*keys).perform()

    browser.open(real["diff"])
    press(Keys.TAB)
    assert browser.js("return document.activeElement.className") == "skip"
    assert browser.js("return document.activeElement.getBoundingClientRect().left >= 0")
    press(Keys.ENTER)
    browser.pause()  # a jump to a place in the page gives it the focus when it ends, not when it starts
    assert browser.js("return document.activeElement.id") == "main"
    press(Keys.TAB)
    assert browser.js("return document.activeElement.localName") == "summary"
    assert browser.js("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    press(Keys.ENTER)
    assert browser.js("return document.activeElement.parentElement.open")
    browser.js("document.querySelector('[data-facet=severity] input').focus()")
    press(Keys.SPACE)
    assert len(visible(browser)) == 5
    browser.js("document.getElementById('q').focus()")
    press(*"Infra", Keys.ENTER)
    assert shown(browser) == "Showing 2 of 188 findings"
    assert browser.complaints() == []


def _pdf_text(pdf: bytes) -> int:
    """How many pieces of text the pages draw (their letters are numbers of glyphs)."""
    drawn = 0
    for part in pdf.split(b"stream\n")[1:]:
        try:
            drawn += zlib.decompressobj().decompress(part).count(b"Tj")
        except zlib.error:
            continue
    return drawn


def test_print(browser: Browser, real: dict[str, Path], tmp_path: Path) -> None:
    for scripts in (True, False):
        browser.open(real["diff"], scripts=scripts)
        pdf = browser.pdf()
        assert pdf.startswith(b"%PDF")
        assert _pdf_text(pdf) > 1_000
    browser.open(real["diff"])
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    seen = "return document.querySelector(arguments[0]).checkVisibility({contentVisibilityAuto: true})"
    assert not browser.js(seen, "#filters")
    assert not browser.js(seen, ".skip")
    assert browser.js(seen, ".item.error .body")
    assert browser.js(seen, ".item.warning .excerpt")
    assert not browser.js(seen, ".item.info .body")
    assert browser.complaints() == []


@pytest.mark.parametrize("name", ["diff", "check", "matrix"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_width_and_theme(browser: Browser, real: dict[str, Path], name: str, width: str, dark: bool) -> None:
    browser.open(real[name], width=WIDTHS[width], dark=dark, touch=width == "phone")
    browser.js("document.querySelectorAll('.item').forEach((item, n) => { item.open = n % 9 === 0; })")
    browser.js("document.querySelectorAll('details:not(.item)').forEach((each) => { each.open = true; })")
    assert browser.js("return document.documentElement.scrollWidth") == WIDTHS[width]
    ground = browser.js("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
    assert browser.complaints() == []


def test_a_cell_of_the_matrix_leads_to_its_findings(browser: Browser, real: dict[str, Path]) -> None:
    browser.open(real["matrix"])
    rows = "return [...document.querySelectorAll('.grid tbody tr')]"
    verdicts = browser.js(f"{rows}.map((row) => [...row.cells].map((cell) => cell.className.split(' ')[0]))")
    assert [row.count("blocked") for row in verdicts] == [0, 1, 2, 3, 4]
    assert verdicts[0][2] == "clean"
    browser.driver.find_element("css selector", ".grid tbody tr:nth-child(3) td:nth-child(3) a").click()
    browser.pause()
    (opened,) = texts(browser, ".way[open] > summary")
    assert " ".join(opened.split()).startswith("blocked origin/release-4.14 → origin/release-4.13 2 errors, ")
    error = browser.driver.find_element("css selector", ".way[open] .item.error summary")
    assert "status.capabilities.enabledCapabilities[*]" in error.text
    error.click()
    text = browser.driver.find_element("css selector", ".way[open] .item.error .body").text
    assert 'since origin/release-4.14: "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"' in text
    choose(browser, "to", "origin/release-4.15")
    choose(browser, "from", "release-4.16")
    tick(browser, "severity", "error")
    shown_ways = "return [...document.querySelectorAll('.way')].filter((w) => w.checkVisibility()).map((w) => w.open)"
    assert browser.js(shown_ways) == [True]
    assert len(visible(browser)) == 2
    assert browser.complaints() == []


def test_without_a_script_everything_can_be_read(browser: Browser, real: dict[str, Path]) -> None:
    browser.open(real["diff"], scripts=False)
    seen = "return [...document.querySelectorAll(arguments[0])].some((each) => each.checkVisibility())"
    for selector in ("#filters", ".copy", "#nothing"):
        assert not browser.js(seen, selector), selector
    assert len(visible(browser)) == 188
    assert browser.js("return document.querySelectorAll('html.js').length") == 0
    browser.driver.find_element("css selector", ".item summary").click()
    text = browser.driver.find_element("css selector", ".item .body").text
    assert "API server" in text
    assert "enabledCapabilities:\n    - NodeTuning" in text


# -- our own ---------------------------------------------


def test_a_check_hides_what_does_not_count_until_asked(browser: Browser, tmp_path: Path) -> None:
    browser.open(held(tmp_path, check(tmp_path)))
    aside = "return [...document.querySelectorAll('.aside')].map((each) => each.open)"
    assert browser.js(aside) == [False, False]
    assert shown(browser) == "8 findings; 1 more stood there before (status: existing)"
    tick(browser, "status", "waived")
    assert shown(browser) == "Showing 1 of 9 findings"
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
    """Whatever else is filtered by: its count is told, its status brings it, and its heading opens it."""
    report = check(tmp_path)
    (old,) = [finding for finding in report.findings if finding.status == "existing"]
    file = held(tmp_path, report)
    browser.open(file)
    (existing,) = browser.js("return [...document.querySelectorAll('.held .item')].map((item) => item.id)")
    assert existing.startswith(f"f-{old.id}")
    assert existing not in on_screen(browser)
    tick(browser, "severity", old.severity)
    assert existing not in visible(browser)
    others = sum(finding.severity == old.severity for finding in report.findings) - 1
    assert shown(browser) == f"Showing {others} of 8 findings; 1 more stood there before (status: existing)"
    chip = "return document.querySelector(`[data-facet=${arguments[0]}] [value=${arguments[1]}]`).parentElement"
    assert browser.js(f"{chip}.innerText", "status", "existing").split() == ["existing", "1"]
    assert browser.js(f"{chip}.innerText", "severity", old.severity).split() == [old.severity, str(others)]
    tick(browser, "status", "existing")
    assert on_screen(browser) == [existing]
    assert shown(browser) == "Showing 1 of 9 findings"
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
    assert shown(browser) == "8 findings; 1 more stood there before (status: existing)"
    assert browser.complaints() == []


def test_what_stood_there_before_without_a_script(browser: Browser, tmp_path: Path) -> None:
    browser.open(held(tmp_path, check(tmp_path)), scripts=False)
    (existing,) = browser.js("return [...document.querySelectorAll('.held .item')].map((item) => item.id)")
    assert existing not in on_screen(browser)
    summary = browser.driver.find_element("css selector", ".held > summary")
    assert summary.text == "1 finding that stood there before"
    summary.click()
    assert existing in on_screen(browser)


@pytest.mark.parametrize("scripts", [True, False])
def test_all_shows_what_stood_there_before(browser: Browser, tmp_path: Path, *, scripts: bool) -> None:
    report = check(tmp_path)
    file = tmp_path / "all.html"
    file.write_text(rendered(report, "html", existing=True), "utf-8")
    browser.open(file, scripts=scripts)
    assert len(on_screen(browser)) == len(report.findings) - 1  # what is waived stays folded
    if scripts:
        assert shown(browser) == "9 findings"
        tick(browser, "severity", "info")
        assert shown(browser) == f"Showing {sum(f.severity == 'info' for f in report.findings)} of 9 findings"


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
        assert report.findings[0].message in first.text
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

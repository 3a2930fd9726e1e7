"""The HTML page of real releases, in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import Browser, address, choose, chromium, shown, tick, visible
from helpers import Json, run

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


def ids(browser: Browser) -> list[str]:
    """The ids of the findings shown; of several with one id, the others have a number behind it on the page."""
    return [anchor.split("-")[1] for anchor in visible(browser)]


def search(browser: Browser, text: str) -> None:
    browser.js("document.getElementById('q').value = arguments[0]; document.forms[0].requestSubmit()", text)


def texts(browser: Browser, selector: str) -> list[str]:
    return browser.js("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector)


def test_each_filter_shows_what_the_report_has(browser: Browser, real: dict[str, Path]) -> None:
    findings = _findings(real)
    browser.open(real["diff"])
    assert shown(browser) == f"{_size(findings)} findings"
    cases = [
        *(("severity", value, lambda f, v: v in f["severities"]) for value in ("error", "warning", "info")),
        *(("direction", value, lambda f, v: f["direction"] == v) for value in ("rollback", "upgrade")),
        *(("owner", value, lambda f, v: f["owner"] == v) for value in ("status", "spec", "metadata", "crd")),
        ("crd", "clusterversions.config.openshift.io", lambda f, v: v in f["crds"]),
        ("context", findings[0]["contexts"][0], lambda f, v: v in f["contexts"]),
        ("rule", "enum-value-added", lambda f, v: f["rule"] == v),
    ]
    for facet, value, holds in cases:
        chosen = [finding for finding in findings if holds(finding, value)]
        wanted = [finding["id"] for finding in chosen]
        assert 0 < len(wanted) < len(findings) or facet == "context"
        use = tick if facet in ("severity", "direction", "owner") else choose
        use(browser, facet, value)
        assert sorted(ids(browser)) == sorted(wanted), (facet, value)  # the page has causes of many CRDs together
        assert shown(browser) == f"Showing {_size(chosen)} of {_size(findings)} findings"
        assert address(browser) == f"#{facet}={quote(value, safe='')}".replace("%20", "+")
        use(browser, facet, value if use is tick else "")
    assert len(visible(browser)) == len(findings)
    assert address(browser) == ""
    search(browser, "external STATUS.platform")
    assert {f["path"] for f in findings if f["id"] in ids(browser)} >= {"status.platform"}
    assert 0 < len(visible(browser)) < len(findings)
    assert browser.complaints() == []


def test_filters_work_together_and_counts_follow(browser: Browser, real: dict[str, Path]) -> None:
    findings = _findings(real)
    browser.open(real["diff"])
    tick(browser, "severity", "warning")
    tick(browser, "severity", "error")
    tick(browser, "direction", "rollback")
    back = [f for f in findings if f["direction"] == "rollback"]
    wanted = [f for f in back if {*f["severities"]} & {"error", "warning"}]
    assert ids(browser) == [finding["id"] for finding in wanted]
    counts = dict(browser.js(
        "return [...document.querySelectorAll('[data-facet=owner] label, [data-facet=severity] label')]"
        ".map((label) => [label.querySelector('input').value, Number(label.querySelector('.count').textContent)])"
    ))  # fmt: skip
    owners = Counter(f["owner"] for f in wanted for _ in f["severities"])
    severities = Counter(severity for f in back for severity in f["severities"])
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


def _findings(real: dict[str, Path], severity: str = "") -> list[Json]:
    """The findings of the JSON report of ``diff`` that represent all with their cause, all or of one severity.

    ``severities``, ``crds`` and ``contexts`` are those of all findings with the cause.
    """
    found: list[Json] = json.loads(real["diff"].with_suffix(".json").read_text("utf-8"))["findings"]
    shown = list({f["id"]: f for f in reversed(found) if f["id"] == f["group"]}.values())[::-1]
    alike = {f["id"]: [other for other in found if other["group"] == f["id"]] for f in shown}
    more = {
        name: {
            "severities": [*{other["id"]: other["severity"] for other in others}.values()],
            "crds": {other["crd"] for other in others},
            "contexts": [context for other in others for context in other["contexts"]],
        }
        for name, others in alike.items()
    }
    return [{**f, **more[f["id"]]} for f in shown if severity in ("", f["severity"])]


def _size(shown: list[Json]) -> int:
    """How many findings these represent."""
    return sum(len(finding["severities"]) for finding in shown)


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
    for part in ("API server", "Unsupported value", "Fix:", "OLD config/v1/", "NEW config/v1/", "Example object"):
        assert part in text
    marked = "".join(texts(browser, ".item[open] .new mark"))
    assert [line.split()[-1] for line in marked.splitlines() if "- " in line] == [
        "NodeTuning", "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry", "OperatorLifecycleManager",
        "CloudCredential", "Ingress", "CloudControllerManager",
    ]  # fmt: skip
    tick(browser, "severity", "error")
    browser.js("document.getElementById('open-all').click()")
    assert browser.js("return document.querySelectorAll('.item[open]').length") == len(_findings(real, "error"))
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
    assert len(visible(browser)) == len(_findings(real, "error"))
    browser.js("document.getElementById('q').focus()")
    press(*"Infra", Keys.ENTER)
    found = [finding for finding in _findings(real) if finding["id"] in ids(browser)]
    assert len(found) == 3
    assert shown(browser) == f"Showing {_size(found)} of {_size(_findings(real))} findings"
    assert browser.complaints() == []


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


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
        assert _pdf_text(pdf) > 150
        assert 1 <= _pages(pdf) <= 2
    browser.open(real["diff"])
    tick(browser, "severity", "error")
    browser.js("document.getElementById('open-all').click()")
    assert _pages(browser.pdf()) > 2
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
    # Every upgrade to 4.16 is blocked: Infrastructure uses isIP, and the older server still serves.
    assert [row.count("blocked") for row in verdicts] == [1, 2, 3, 4, 4]
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
    assert len(visible(browser)) == len(_findings(real))
    assert browser.js("return document.querySelectorAll('html.js').length") == 0
    browser.driver.find_element("css selector", ".item summary").click()
    text = browser.driver.find_element("css selector", ".item .body").text
    assert "API server" in text
    assert "enabledCapabilities:\n    - NodeTuning" in text

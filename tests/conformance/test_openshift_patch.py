"""What is generated in contrib/openshift-api is what the program says today.

Two incidents are checked here; ``python tests/conformance/openshift_patch.py`` checks all, and writes both files.
"""

from __future__ import annotations

import re

import openshift_patch
import pytest
import replay

#: Those with the fewest files.
_CHECKED = {1466, 1538}


@pytest.fixture(autouse=True)
def _data() -> None:
    if not all(history.is_file() for history in replay.HISTORIES.values()):
        pytest.skip("no histories in ../shared/data")


def test_the_configuration_is_what_init_writes() -> None:
    assert openshift_patch.CONFIGURATION.read_text(encoding="utf-8") == openshift_patch.configuration()


def test_the_page_says_what_check_says() -> None:
    incidents = openshift_patch.incidents()
    page = openshift_patch.PAGE.read_text(encoding="utf-8")
    told = {int(number): text for number, text in re.findall(r"(?ms)^(?=## \[#(\d+)\])(.*?)(?=^## |\Z)", page)}
    assert [*told] == [incident["pr"] for incident in incidents]
    wanted = [incident for incident in incidents if incident["pr"] in _CHECKED]
    found = [told[incident["pr"]].rstrip() for incident in wanted]
    assert found == [text.rstrip() for text in openshift_patch.sections(wanted)]


def test_each_incident_ends_as_it_should() -> None:
    page = openshift_patch.PAGE.read_text(encoding="utf-8")
    ends = re.findall(r"^## \[#(\d+)\].*\n\nIt .*?\. The check (fails|passes)", page, re.MULTILINE)
    should = {"fail": "fails", "pass": "passes"}
    assert ends == [(str(each["pr"]), should[each["expected"]]) for each in openshift_patch.incidents()]

"""How much work the largest real pair costs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import crdcompat
from crdcompat.crds.reader import CrdReader

#: The whole of openshift/api's largest pair: no more than this. Less is better: then take the numbers down.
_MOST = {
    "streams parsed": 560,  # some are objects of suites, for changes without an example or a named value
    "schemas compared": 49,
    "nodes compared": 1_520,
    "changes proved": 620,
    "objects judged": 1_480,
    "patterns compared": 40,
    "rules compiled": 73,
}


def test_a_real_pair(openshift_api: Path, work: Counter[str]) -> None:
    reader = CrdReader()
    old, new = (crdcompat.load(f"release-{name}", repo=str(openshift_api), reader=reader) for name in ("4.15", "4.16"))
    crdcompat.diff(old, new)
    too_much = {name: work[name] for name, most in _MOST.items() if work[name] > most}
    assert too_much == {}

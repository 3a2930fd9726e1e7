"""Rules of real CRDs in other words: the same findings. ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) takes all rules."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from helpers import Json
from rule_spellings import agree, around, as_rules, outcomes, random_spellings

import crdcompat

_RULES = "x-kubernetes-validations"
CASES = int(os.environ.get("CRDCOMPAT_FUZZ", "400")) // 40  # rules
_SPELLINGS = 4  # at random, of each rule


def ruled(raw: Any) -> dict[str, Json]:
    """The schemas with rules, by the texts of their rules."""
    found: dict[str, Json] = {}
    left = [raw]
    while left:
        value = left.pop()
        left.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
        if isinstance(value, dict) and isinstance(value.get(_RULES), list) and "type" in value:
            found.update((str(rule["rule"]), value) for rule in value[_RULES])
    return found


def test_real_rules(tmp_path: Path, openshift_api: Path) -> None:
    schemas: dict[str, Json] = {}
    for document in crdcompat.load("release-4.16", repo=str(openshift_api)).documents:
        schemas |= ruled(document.crd.raw)
    assert len(schemas) > 100
    rng = random.Random("spellings")
    for index, text in enumerate(rng.sample(sorted(schemas), min(CASES, len(schemas)))):
        schema = {key: value for key, value in schemas[text].items() if key not in (_RULES, "description")}
        (found,) = outcomes(tmp_path / f"{index}-plain", schema, [text], "v")
        expected = as_rules(found)
        spelled = [*around(text), *random_spellings([text] * _SPELLINGS, rng)]
        agree(tmp_path / str(index), schema, spelled, expected, "v")
        assert expected, text

"""Values that follow the schema of a real CRD, now and then with a fault; the same for the same random numbers."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable
from itertools import islice
from typing import Any

from referee import NAMESPACE

from crdcompat.candidates.sample import integers, sample
from crdcompat.candidates.strings import strings
from crdcompat.schema.structural import Node

Json = dict[str, Any]

_FORMATS = {
    "date-time": ("2006-01-02T15:04:05Z", "2024-02-30T00:00:00Z", "now"),
    "duration": ("1h", "1d", "x"),
    "int-or-string": (1, "25%"),
    "byte": ("YQ==", "?"),
    "uuid": ("11111111-2222-3333-4444-555555555555", "1"),
    "ipv4": ("10.0.0.1", "10.0.0.256"),
    "cidr": ("10.0.0.0/8", "fd00::/8", "10.0.0.0/33"),
}
_ODD = (None, 7, "x", 1.25, True, [], {}, ["A"], {"a": 1}, "", -1, "1.5Gi", 2**40)


_META = ("apiVersion", "kind", "metadata")


def parts_of(version: Json) -> dict[str, Json]:
    """The schemas of the parts of an object, such as ``spec``, in a version of a CRD."""
    properties = version["schema"]["openAPIV3Schema"].get("properties") or {}
    return {key: raw for key, raw in properties.items() if key not in _META}


def empty_object(crd: Json, version: Json, name: str) -> Json:
    """An object of a CRD without its parts."""
    space = {"namespace": NAMESPACE} if crd["spec"]["scope"] == "Namespaced" else {}
    kind = {"apiVersion": f"{crd['spec']['group']}/{version['name']}", "kind": crd["spec"]["names"]["kind"]}
    return {**kind, "metadata": {"name": name, **space}}


class Values:
    """Makes values. ``wrong`` is the share of places with a fault."""

    def __init__(self, r: random.Random, wrong: float) -> None:
        self._r, self._wrong = r, wrong

    def parts(self, version: Json, chosen: Iterable[str]) -> Json:
        """Values of the chosen parts of an object, such as ``spec``: those that a CRD's version has, most of them."""
        parts, required = parts_of(version), version["schema"]["openAPIV3Schema"].get("required", ())
        return {
            key: self.of(parts[key]) for key in chosen if key in parts and (key in required or self._r.random() < 0.8)
        }

    def of(self, raw: Json, depth: int = 0) -> Any:
        """A value for a schema."""
        r = self._r
        if r.random() < self._wrong / 2:
            return copy.deepcopy(r.choice(_ODD))
        if isinstance(raw.get("enum"), list) and raw["enum"] and r.random() > self._wrong:
            return copy.deepcopy(r.choice(raw["enum"]))
        if raw.get("nullable") and r.random() < 0.1:
            return None
        if raw.get("x-kubernetes-int-or-string"):
            return r.choice((1, 80, "25%", "http", "100m", "1Gi"))
        match raw.get("type"):
            case "object":
                return self._object(raw, depth)
            case "array":
                return self._array(raw, depth)
            case "string":
                return self._string(raw)
            case "integer" | "number":
                return r.choice([*islice(integers(Node(raw)), 4)] or [1])
            case "boolean":
                return r.random() < 0.5
        return copy.deepcopy(r.choice(_ODD[1:]))

    def _object(self, raw: Json, depth: int) -> Any:
        r, made = self._r, {}
        properties = raw.get("properties") or {}
        share = 0.35 if depth < 3 else 0.12
        for name, sub in properties.items():
            needed = name in (raw.get("required") or ())
            if r.random() < ((1 - self._wrong / 2) if needed else share if depth < 8 else 0):
                made[name] = self._member(name, sub, depth)
        additional = raw.get("additionalProperties")
        if isinstance(additional, dict):
            for name in r.sample(("a", "b.example.com/c", "app", "zone"), r.randint(0, 2)):
                made[name] = self.of(additional, depth + 1)
        if r.random() < self._wrong or raw.get("x-kubernetes-preserve-unknown-fields"):
            made[r.choice(("unknownField", "zz"))] = r.choice((1, {"a": 1}, "x"))
        return made

    def _member(self, name: str, raw: Json, depth: int) -> Any:
        if raw.get("x-kubernetes-embedded-resource") or name == "metadata":
            return (
                {**sample(Node(raw)), "metadata": {"labels": {"a": "b"}}}
                if name != "metadata"
                else {"labels": {"a": "b"}}
            )
        return self.of(raw, depth + 1)

    def _array(self, raw: Json, depth: int) -> Any:
        least = raw.get("minItems", 0)
        count = min(max(least, self._r.randint(0, 3 if depth < 4 else 1)), raw.get("maxItems", 9))
        items = [self.of(raw.get("items") or {}, depth + 1) for _ in range(min(count, 4))]
        keys = raw.get("x-kubernetes-list-map-keys") or ()
        for index, item in enumerate(items):
            for key in keys if isinstance(item, dict) and self._r.random() > self._wrong else ():
                sub = (raw["items"].get("properties") or {}).get(key, {})
                if sub.get("type") == "string" and not sub.get("enum") and not sub.get("pattern"):
                    item[key] = f"n{index}"
        return items

    def _string(self, raw: Json) -> str | Any:
        if (known := _FORMATS.get(raw.get("format", ""))) is not None:
            return known[0] if self._r.random() > self._wrong else self._r.choice(known)
        if raw.get("pattern") and self._r.random() > self._wrong:
            return self._r.choice([*islice(strings(Node(raw)), 3)] or ["x"])
        low, high = raw.get("minLength", 0), raw.get("maxLength", 64)
        text = self._r.choice(("a", "b-c", "Node", "10.0.0.1", "https://example.com", "example.com", "1h"))
        return text[:high] if len(text) >= low else text + "x" * (low - len(text))

    def change(self, value: Json, raw: Json) -> Json:
        """A value with one or two members redrawn or taken away: what a controller sends next."""
        other = self.of(raw)
        made = copy.deepcopy(value)
        if isinstance(other, dict):
            for name in self._r.sample(sorted(other), min(len(other), 2)):
                made[name] = other[name]
        for name in self._r.sample(sorted(made), 1) if made and self._r.random() < 0.2 else ():
            del made[name]
        return made

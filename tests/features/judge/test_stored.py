"""What else the server changed: the places, and that long lists cost what differs in them."""

from __future__ import annotations

from helpers import crd, obj, root, string, widget
from operations import operations

from crdcompat.apiserver.server_versions import Server
from crdcompat.features.judge.stored import MAX_DIFFERING, _Differing, changed_besides
from crdcompat.features.judge.write_verdict import judge_write, resource_of


def test_long_lists_cost_what_differs() -> None:
    """DeepDiff takes a millisecond for a few items; beyond a limit the changes are not looked at."""
    items = {"l": {"type": "array", "items": {"type": "object", "properties": {"a": string(), "b": string()}}}}
    resource = resource_of(crd(root(spec=obj(**items))), None, Server(31))
    calls = {}
    for count, nulls in ((200, 2), (20_000, 2), (20_000, 20_000)):
        sent = widget({"spec": {"l": [{"a": "x", "b": None if n < nulls else "y"} for n in range(count)]}})
        verdict = judge_write(resource, "create", sent)
        with operations() as done:
            found = changed_besides(resource, "create", sent, verdict)
        calls[count, nulls] = done.calls
        shown = min(nulls, MAX_DIFFERING)
        assert (len(found.texts), found.cut) == (shown, nulls > MAX_DIFFERING)
        assert set(found.texts) == {f"spec.l[{n}].b (removed)" for n in range(shown)}
    assert calls[20_000, 2] < 20 * 20_000
    assert calls[20_000, 20_000] < 2_000_000


def test_items_beyond_the_end_of_a_list() -> None:
    old, new = ({"status": {"l": ["a", *more], "m": {"x": 1}}} for more in (["b"], ["c", {"d": 1}]))
    assert set(_Differing().fields(old, new)) == {("status.l[1]", "changed"), ("status.l[2]", "added")}
    assert set(_Differing().fields(new, {"status": {"l": {}}})) == {
        ("status.l", "changed"),
        ("status.m", "removed"),
    }

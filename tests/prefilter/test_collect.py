"""What lines show of the CRDs in a file: no CRD is missed, and little else is taken for one."""

from __future__ import annotations

import json

import pytest
from helpers import Json, crd, obj, root
from telltales import MARKS, searched_facts

from crdcompat.crds.context import CHANNEL, FEATURE_SET, PROFILE
from crdcompat.prefilter.collect import collect_facts
from crdcompat.prefilter.facts import FileFacts
from crdcompat.sources.tree import EmptyTree, Entry
from crdcompat.yaml.dump import to_yaml

KIND = "kind: CustomResourceDefinition\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{KIND}names:\n  plural: widgets\n",
        f'{KIND}names:\r\n  plural: "widgets" # ours\r\n',
        f"{KIND}names: {{plural: widgets}}\n",
        f"{KIND}names: &n {{kind: W, 'plural' : 'widgets'}}\n",
        '{"kind":"CustomResourceDefinition","spec":{"names":{"plural":"widgets","kind":"Widget"}}}',
        json.dumps({"kind": "CustomResourceDefinition", "plural": "widgets"}, indent=1),
        f'{KIND}plural: widgets\nstatus: {{plural: ""}}\n',
    ],
)
def test_a_crd_is_seen(text: str) -> None:
    found = searched_facts(text)
    assert (found.plurals, found.may_hold_any) == (["widgets"], False)
    assert found.may_hold({"gadgets", "widgets"})
    assert not found.may_hold({"gadgets"})


@pytest.mark.parametrize(
    "text",
    [
        "plural: *name\n",
        "plural: {{ .Values.plural }}\n",
        "plural: !!str widgets\n",
        "plural: &p widgets\n",
        "plural:\n  widgets\n",
        "? plural\n: widgets\n",
        '{"plural"\n: "widgets"}\n',
        f"{KIND}? !!str plural # the key\n: widgets\n",
        f'{KIND}"pl\\u0075ral": widgets\n',
        f"x: &k plural of it\n{KIND}*k : widgets\n",
        f"{KIND}names: {{}}\n",
        f"{KIND}plural: gadgets\n---\n{KIND}",
        "kind: CustomResourceDefinitionList\nplural: gadgets\n",
        b"description: caf\xe9 plural: gadgets\n",
        "a: b\n".encode("utf-16"),
    ],
)
def test_unclear_text_may_be_any_crd(text: str | bytes) -> None:
    assert searched_facts(text).may_hold({"widgets"})


@pytest.mark.parametrize("text", ["", "plural name: a\n", "f:plural: {}\n", "a-plural: widgets\n", 'plural: ""\n'])
def test_what_is_none(text: str) -> None:
    assert searched_facts(text) == FileFacts([], [], False)


def test_lines_of_annotations_are_kept() -> None:
    note = f"    {PROFILE}hosted: 'true'"
    assert searched_facts(f"a:\n{note}\n{note}\nb: {CHANNEL}\n").annotation_lines == [note.strip(), f"b: {CHANNEL}"]
    (kept,) = searched_facts(
        json.dumps({"kind": "CustomResourceDefinitionList", "b": "x" * 9000, FEATURE_SET: "a"})
    ).annotation_lines
    assert len(kept) == 500


def test_as_it_is_written_by_tools() -> None:
    whole: Json = crd(root(spec=obj()), annotations={FEATURE_SET: "Default"})
    assert searched_facts(to_yaml(whole)) == FileFacts(["widgets"], [f"{FEATURE_SET}: Default"], False)


def test_only_commits_are_searched() -> None:
    assert collect_facts([(EmptyTree("nothing"), [Entry("a.yaml", "1")])], MARKS, use_cache=False)() == {}

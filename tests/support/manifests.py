"""The manifests of a page in docs/, and what an API server decodes of them, by the models of the official client."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from offline import PROJECT

client = pytest.importorskip("kubernetes.client")


def manifests_of(page: str) -> list[Any]:
    """The manifests in the blocks of YAML of a page in docs/."""
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    blocks = (each.content for each in MarkdownIt("commonmark").parse(text) if each.info == "yaml")
    return [manifest for block in blocks for manifest in yaml.safe_load_all(block)]


def decoded(value: Any, model: str) -> Any:
    """A value as a model has it: without fields that the model lacks. Raises ValueError for a gap."""
    api = client.ApiClient()
    decode = api._ApiClient__deserialize  # the public method takes an answer, in another form in each release
    return api.sanitize_for_serialization(decode(value, model))

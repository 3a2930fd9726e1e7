"""JSON Schemas: whether a document matches one, and where it does not."""

from __future__ import annotations

import contextlib
from typing import Any

import jsonschema
import jsonschema_rs


class Schema:
    """A schema with two validators: a quick one, and jsonschema, which decides where the quick one does not agree."""

    def __init__(self, schema: Any, draft: type[Any] = jsonschema.Draft202012Validator) -> None:
        draft.check_schema(schema)
        self._quick = jsonschema_rs.validator_for({"$schema": draft.META_SCHEMA["$schema"], **schema})
        self._slow = draft(schema)

    def faults(self, data: Any) -> list[str]:
        """Each fault, after its place."""
        with contextlib.suppress(UnicodeEncodeError):  # the quick validator reads no lone surrogates
            if self._quick.is_valid(data):
                return []
        return [f"{error.json_path}: {error.message[:300]}" for error in self._slow.iter_errors(data)]

"""Conversion strategy None: an object of one version read as another, with nothing but its apiVersion changed."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.verdict import Verdict


class Converting(Resource):
    """A version of a CRD that is asked about objects written as another version of it."""

    def create(self, raw: dict[str, Any], *, keep_status: bool = False) -> Verdict:
        """As Resource.create, after the conversion."""
        return super().create({**raw, "apiVersion": self.api_version}, keep_status=keep_status)

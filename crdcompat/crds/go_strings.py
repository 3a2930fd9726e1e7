"""CRDs that a Go file holds as YAML, in raw strings: the program applies them, and no manifest may have them."""

from __future__ import annotations

import re

from crdcompat.crds.makers import content_of
from crdcompat.crds.model import is_crd, is_fragment
from crdcompat.prefilter.candidates import has_crd_line
from crdcompat.yaml.documents import Document, read_documents

#: The reason why a change of such a file is not judged.
IN_GO = "a CRD as YAML in Go, which no manifest has: only YAML files are compared"
_RAW = re.compile(rb"`([^`]*)`")


def crds_in_go(data: bytes) -> dict[str, str]:
    """The names of the CRDs in the raw strings of a Go file, each with a text that is equal for equal CRDs.

    A string with a CRD that cannot be read has the name "".
    """
    found: dict[str, str] = {}
    for text in filter(has_crd_line, _RAW.findall(data)):
        for item in read_documents(text, ""):
            if not isinstance(item, Document):
                found[""] = found.get("", "") + content_of(text.decode(errors="replace"))
            elif is_crd(item.data) and not is_fragment(item.data):
                metadata = item.data.get("metadata")
                found[str(metadata.get("name")) if isinstance(metadata, dict) else ""] = content_of(item.data)
    return found

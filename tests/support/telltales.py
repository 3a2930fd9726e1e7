"""What the prefilter reads from the text of a manifest."""

from __future__ import annotations

from crdcompat.crds.context import CHANNEL, FEATURE_SET, PROFILE
from crdcompat.prefilter.facts import FileFacts, facts_of, relevant_lines

MARKS = (FEATURE_SET, PROFILE, CHANNEL)


def searched_facts(text: str | bytes) -> FileFacts:
    data = text if isinstance(text, bytes) else text.encode()
    return facts_of(relevant_lines(data, MARKS), MARKS)

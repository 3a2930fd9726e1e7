"""A cache of a row of comparisons holds what the last turn asked for."""

from __future__ import annotations

from crdcompat.compare.trial_book import Recent


def test_what_a_turn_asks_for_stays() -> None:
    cache: Recent[str, int] = Recent()
    assert cache.put("asked", 1) == 1
    cache.put("left", 2)
    cache.turn()
    assert cache.get("asked") == 1
    cache.turn()
    assert (cache.get("asked"), cache.get("left")) == (1, None)
    cache.turn()
    assert cache.get("asked") == 1

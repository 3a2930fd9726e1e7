"""The releases of a channel in a catalog of OLM, and the upgrades between them that OLM offers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from crdcompat.config.releases import Version, version_of
from crdcompat.sources import open_package
from crdcompat.sources.catalog import Entry

_COMPARED = re.compile(r"(>=|<=|!=|>|<|=)?\s*v?([0-9][0-9A-Za-z.+-]*)")


class ChannelUpgrade(Struct, frozen=True):
    """An upgrade from the release ``older`` to ``newer``; ``why`` is the key of the catalog that allows it."""

    older: str
    newer: str
    why: str


class Channel(Struct, frozen=True):
    """The releases of one channel as names of sources, and the upgrades between them."""

    label: str
    names: tuple[str, ...]
    upgrades: tuple[ChannelUpgrade, ...]


def channel_of(name: str) -> Channel | None:
    """The channel that ``catalog.yaml#PACKAGE`` (its default) or ``#PACKAGE/CHANNEL`` names; None for other names.

    Raises SourceError and UsageError for a catalog that cannot be read or has no such package or channel.
    """
    found = open_package(name)
    if found is None:
        return None
    package, channel = found
    entries = package.entries(name, channel)
    catalog = name.partition("#")[0]
    names = {entry.name: f"{catalog}#{package.name}@{entry.version}" for entry in entries}
    upgrades = tuple(
        ChannelUpgrade(names[older.name], names[newer.name], why)
        for newer in entries
        for older in entries
        if (why := _why(older, newer))
    )
    return Channel(f"{package.name}, channel {channel or package.default_channel}", tuple(names.values()), upgrades)


def _why(older: Entry, newer: Entry) -> str:
    """The key of the entry ``newer`` that allows the upgrade from ``older``; "" if none does."""
    if older.name == newer.replaces:
        return "replaces"
    if older.name in newer.skips:
        return "skips"
    if older.name != newer.name and newer.skip_range and in_range(older.version, newer.skip_range):
        return "skipRange"
    return ""


def in_range(version: str, text: str) -> bool:
    """Whether a version is in the range ``text``, such as ``>=1.0.0 <1.2.0 || 1.3.1``."""
    key = version_of(version)
    return key is not None and any(all(_compared(key, part)) for part in text.split("||"))


def _compared(key: Version, part: str) -> Iterator[bool]:
    """The result of each comparison; one False for a text without comparisons."""
    found = _COMPARED.findall(part)
    yield bool(found)
    for sign, text in found:
        other = version_of(text) or ((int(text),) if text.isdigit() else (), 99, 0)
        yield {
            ">=": key >= other,
            "<=": key <= other,
            "!=": key != other,
            ">": key > other,
            "<": key < other,
        }.get(sign, key == other)


def expanded(named: Iterable[str]) -> tuple[tuple[str, ...], tuple[Channel, ...]]:
    """The names with each channel replaced by its releases, and the channels. Raises as `channel_of`."""
    names: list[str] = []
    channels: list[Channel] = []
    for name in named:
        channel = channel_of(name)
        names += (name,) if channel is None else channel.names
        channels += () if channel is None else (channel,)
    return tuple(names), tuple(channels)

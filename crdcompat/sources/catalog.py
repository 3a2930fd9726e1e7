"""File-based catalogs of OLM: the packages, channels and bundles of ``catalog.yaml``, and the manifests of a bundle."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.errors import Problem, SourceError, UsageError
from crdcompat.sources.descriptions import YAML_ERRORS, list_of, load_yaml, object_of, objects_of
from crdcompat.sources.memory import Held, MemoryTree, held_files
from crdcompat.sources.naming import is_manifest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.sources.tree import Tree

_EXPECTED = "a file-based catalog is expected: YAML or JSON documents with schema: olm.package, olm.channel, olm.bundle"
_MAX_OBJECT = 16 << 20  # bytes of one manifest in a bundle
_SEPARATOR = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_VALUE = re.compile(r"\S")
Json = dict[str, Any]


class Entry(Struct, frozen=True):
    """One bundle in a channel. OLM upgrades to it from ``replaces``, ``skips`` and the versions in ``skip_range``."""

    name: str
    version: str
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""


class Package(Struct, frozen=True):
    """One package of a catalog: its bundles by name, and the entries of each channel by its name."""

    name: str
    default_channel: str
    bundles: Mapping[str, Json]
    channels: Mapping[str, tuple[Entry, ...]]

    def entries(self, name: str, channel: str) -> tuple[Entry, ...]:
        """The entries of a channel ("": the default one). Raises SourceError for an unknown channel."""
        wanted = channel or self.default_channel
        if not self.channels.get(wanted):
            known = ", ".join(sorted(self.channels)) or "none"
            raise SourceError(f"{name}: {self.name} has no channel {wanted!r} with entries: there are {known}")
        return self.channels[wanted]

    def bundle(self, wanted: str) -> Json | None:
        """The bundle with this version, or with this name, such as ``widgets.v1.2.0``; None if there is none."""
        if wanted in self.bundles:
            return self.bundles[wanted]
        version = wanted.removeprefix("v")
        return next((each for each in self.bundles.values() if version_of_bundle(each) == version), None)


def catalog_tree(name: str, tree: Tree, package: str, version: str) -> MemoryTree:
    """The manifests of one bundle. Raises UsageError if package or version is "", SourceError if there is none."""
    files = held_files(tree, lambda path: tree.is_one_file or is_manifest_name(path))
    found = read_package(name, files, package, tree.problems)
    versions = [version_of_bundle(each) for each in found.bundles.values()]
    if not version:
        raise UsageError(
            f"{name}: name a version, as {name}@{versions[-1]} (there are {', '.join(versions)}); matrix takes them all"
        )
    bundle = found.bundle(version)
    if bundle is None:
        raise SourceError(f"{name}: {package} has no version {version}: there are {', '.join(versions)}")
    held = Held(name)
    problems = list(tree.problems)
    for index, data in enumerate(_objects(bundle, files, problems)):
        held.add(f"{bundle['name']}/{index:03}.json", data)
    if not held.files and not problems:
        problems.append(Problem(str(bundle["name"]), None, _why_empty(bundle)))
    return MemoryTree(name, held.files, problems, tree.skipped, tree.notes)


def read_package(name: str, files: Mapping[str, bytes], package: str, problems: Iterable[Problem] = ()) -> Package:
    """A package of the catalog in these files. Raises UsageError if ``package`` is "", SourceError if there is none."""
    documents = [each for path, data in sorted(files.items()) for each in _documents(f"{name}: {path}", data)]
    packages = [each for each in documents if each.get("schema") == "olm.package"]
    known = sorted({str(each.get("name")) for each in packages})
    if not known:
        found = "".join(f" ({problem.message})" for problem in problems)
        raise SourceError(f"{name}: no catalog{found}: {_EXPECTED}")
    if not package:
        raise UsageError(f"{name}: name a package, as {name}#{known[0]}@VERSION (there are {', '.join(known)})")
    if package not in known:
        raise SourceError(f"{name}: the catalog has no package {package}: there are {', '.join(known)}")
    bundles = {
        str(each["name"]): each
        for each in documents
        if each.get("schema") == "olm.bundle" and each.get("package") == package and "name" in each
    }
    channels = {
        str(each.get("name")): tuple(_entries(each, bundles))
        for each in documents
        if each.get("schema") == "olm.channel" and each.get("package") == package
    }
    default = next(str(each.get("defaultChannel", "")) for each in packages if each.get("name") == package)
    if not bundles:
        raise SourceError(f"{name}: the package {package} has no bundles: {_EXPECTED}")
    return Package(package, default, bundles, channels)


def version_of_bundle(bundle: Mapping[str, Any]) -> str:
    """The version of a bundle: from its property ``olm.package``, else from its name."""
    for value in _properties(bundle, "olm.package"):
        if isinstance(value, dict) and isinstance(value.get("version"), str):
            return str(value["version"])
    return str(bundle.get("name", "")).partition(".")[2].removeprefix("v")


def _entries(channel: Mapping[str, Any], bundles: Mapping[str, Json]) -> Iterator[Entry]:
    for each in objects_of(channel.get("entries")):
        if isinstance(each.get("name"), str):
            yield Entry(
                each["name"],
                version_of_bundle(bundles.get(each["name"], each)),
                str(each.get("replaces") or ""),
                tuple(map(str, list_of(each.get("skips")))),
                str(each.get("skipRange") or ""),
            )


def _documents(place: str, data: bytes) -> Iterator[Json]:
    """The documents of a YAML file or a stream of JSON that have a schema of OLM. Raises SourceError for damage."""
    try:
        found = list(_json(data)) if data.lstrip()[:1] == b"{" else list(_yaml(data))
    except YAML_ERRORS as error:
        raise SourceError(f"{place}: cannot be read as a catalog: {' '.join(str(error).split())[:200]}") from None
    return (each for each in found if isinstance(each, dict) and str(each.get("schema", "")).startswith("olm."))


def _json(data: bytes) -> Iterator[Any]:
    text = data.decode()
    decoder, at = json.JSONDecoder(), 0
    while (start := _VALUE.search(text, at)) is not None:
        value, at = decoder.raw_decode(text, start.start())
        yield value


def _yaml(data: bytes) -> Iterator[Any]:
    """The documents that mention OLM. Only these are parsed, because a catalog can be very large."""
    for part in _SEPARATOR.split(data):
        if b"olm." in part:
            yield load_yaml(part)


def _properties(bundle: Mapping[str, Any], kind: str) -> Iterator[Any]:
    return (each.get("value") for each in objects_of(bundle.get("properties")) if each.get("type") == kind)


def _objects(bundle: Mapping[str, Any], files: Mapping[str, bytes], problems: list[Problem]) -> Iterator[bytes]:
    """The manifests of a bundle: in base64 in the catalog, or in files beside it. Adds faults to ``problems``."""
    name = str(bundle["name"])
    for value in _properties(bundle, "olm.bundle.object"):
        data, ref = object_of(value).get("data"), object_of(value).get("ref")
        if isinstance(data, str) and len(data) <= _MAX_OBJECT:
            try:
                yield base64.b64decode(data, validate=True)
            except binascii.Error as error:
                problems.append(Problem(name, None, f"olm.bundle.object: its data is no base64: {error}"))
        elif isinstance(ref, str) and ref in files:
            yield files[ref]
        else:
            reason = f"larger than {_MAX_OBJECT} bytes" if isinstance(data, str) else f"{ref}: not in the catalog"
            problems.append(Problem(name, None, f"olm.bundle.object: {reason}: not read"))


def _why_empty(bundle: Mapping[str, Any]) -> str:
    """The problem of a bundle without manifests: the kinds that it owns, and the image that has its CRDs."""
    kinds = sorted(
        f"{value.get('kind')}.{value.get('group')}/{value.get('version')}"
        for value in _properties(bundle, "olm.gvk")
        if isinstance(value, dict)
    )
    owned = f"; it owns {', '.join(kinds)}" if kinds else ""
    image = bundle.get("image") or "without a name"
    return f"the catalog holds no CRDs of it{owned}: copy its image ({image}) and compare oci:FILE"

"""kustomize folders as trees: the files that a kustomization names, or kustomize's output if the user asks for it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crdcompat.errors import Problem, SourceError
from crdcompat.sources.build import kustomize_build
from crdcompat.sources.descriptions import YAML_ERRORS, list_of, load_yaml
from crdcompat.sources.files import read_file
from crdcompat.sources.memory import Held, MemoryTree
from crdcompat.sources.naming import KUSTOMIZATIONS, reason_of
from crdcompat.sources.source_options import current_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_EXPECTED = f"a folder with {', '.join(KUSTOMIZATIONS[:-1])} or {KUSTOMIZATIONS[-1]} is expected"
#: The keys of a kustomization that list files and folders.
LISTS = ("resources", "bases", "components", "crds")
#: Keys of a kustomization that make or change manifests: only kustomize itself can apply them.
PATCHES = ("patches", "patchesStrategicMerge", "patchesJson6902")
ONLY_KUSTOMIZE = (*PATCHES, "generators", "transformers", "helmCharts", "helmChartInflationGenerator", "replacements")
_BUILD = "only kustomize applies it: give --kustomize, or compare the output of kustomize build"
_MAX_FOLDERS = 1000
#: What the target of a patch says of CRDs, as kustomize knows them.
_OF_CRDS = {"group": ("apiextensions.k8s.io",), "version": ("v1", "v1beta1"), "kind": ("CustomResourceDefinition",)}
_PLAIN = re.compile(r"[\w-]*")


def kustomize_tree(name: str, folder: str) -> MemoryTree:
    """The manifests of a kustomize folder.

    Raises SourceError if it has no kustomization, UsageError if kustomize shall run and is not installed."""
    if not _file_of(folder):
        raise SourceError(f"{name}: no kustomization: {_EXPECTED}")
    if current_options().kustomize:
        built = {"kustomization.yaml": kustomize_build(name, folder)}
        return MemoryTree(name, built, notes=(f"{name}: built by kustomize",))
    reader = _Reader(name, folder)
    reader.read()
    return MemoryTree(name, reader.held.files, reader.problems)


class _Reader:
    """Reads the resources of a kustomization and of the kustomizations that it names, each once, in one repository."""

    def __init__(self, name: str, folder: str) -> None:
        self.held = Held(name)
        self.problems: list[Problem] = []
        self._top = os.path.realpath(folder)
        self._bound = _repository(self._top)
        self._pending = [self._top]

    def read(self) -> None:
        seen: set[str] = set()
        while self._pending:
            folder = self._pending.pop()
            if folder in seen:
                continue
            seen.add(folder)
            if len(seen) > _MAX_FOLDERS:
                self._problem(folder, f"more than {_MAX_FOLDERS} folders: the rest is not read")
                return
            self._read_folder(folder)

    def _read_folder(self, folder: str) -> None:
        """Read the kustomization of a folder: add its files, its folders to read, and its problems."""
        file = _file_of(folder)
        data = read_file(file, self._shown(file), self.problems) if file else None
        if data is None:
            if not file:
                self._problem(folder, f"no kustomization in it: {_EXPECTED}")
            return
        try:
            content = load_yaml(data)
        except YAML_ERRORS as error:
            self._problem(file, f"cannot be read: {str(error).splitlines()[0]}")
            return
        if not isinstance(content, dict):
            self._problem(file, "no kustomization: a mapping with resources is expected")
            return
        for key in ONLY_KUSTOMIZE:
            if content.get(key) and (key not in PATCHES or _may_patch_crds(content[key], folder)):
                self._problem(file, f"{key}: {_BUILD}")
        for named in _named(content):
            self._add(folder, file, named)

    def _add(self, folder: str, file: str, named: str) -> None:
        """Add the resource ``named`` in the kustomization ``file``: a file, a folder to read, or a problem."""
        path = os.path.realpath(Path(folder) / named)
        if is_elsewhere(named):
            self._problem(file, f"{named}: a resource elsewhere, not read: {_BUILD}")
        elif Path(path) != Path(self._bound) and Path(self._bound) not in Path(path).parents:
            self._problem(file, f"{named}: is outside of {self._bound}, not read: {_BUILD}")
        elif Path(path).is_dir():
            self._pending.append(path)
        elif (data := read_file(path, self._shown(path), self.problems)) is not None:
            self.held.add(self._shown(path), data)

    def _problem(self, path: str, message: str) -> None:
        self.problems.append(Problem(self._shown(path), None, message))

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self._top)


def is_elsewhere(named: str) -> bool:
    """Whether a resource is of another repository: a URL, or a path on a git host."""
    return "://" in named or "?ref=" in named or named.startswith(("github.com/", "git@"))


def selects_crds(target: Mapping[str, Any]) -> bool:
    """Whether the target of a patch may select CRDs: its fields are patterns, and one that is not there matches."""
    name = target.get("name")
    if isinstance(name, str) and name and _PLAIN.fullmatch(name):
        return False  # the name of a CRD has dots
    return all(_matches(target.get(key), words) for key, words in _OF_CRDS.items())


def _matches(pattern: Any, words: Sequence[str]) -> bool:
    if not isinstance(pattern, str) or pattern.strip("^$") in ("", *words):
        return True
    if _PLAIN.fullmatch(pattern):
        return False
    import re2

    try:
        return any(re2.fullmatch(pattern, word) for word in words)
    except re2.error:
        return True


def _file_of(folder: str) -> str:
    try:
        return next((str(Path(folder) / name) for name in KUSTOMIZATIONS if (Path(folder) / name).is_file()), "")
    except (OSError, ValueError) as error:
        raise SourceError(f"{folder}: {reason_of(error)}") from None


def _repository(folder: str) -> str:
    """The folder of the repository around ``folder``, else ``folder``. Nothing outside of it is read."""
    return next((str(each) for each in (Path(folder), *Path(folder).parents) if (each / ".git").exists()), folder)


def _named(content: Mapping[str, Any]) -> Iterator[str]:
    for key in LISTS:
        yield from (each for each in list_of(content.get(key)) if isinstance(each, str))


def _may_patch_crds(patches: Any, folder: str) -> bool:
    """Whether a patch may change a CRD. It does not if its target, or the patch itself, names another kind."""
    return any(_names_crd(patch, folder) for patch in patches) if isinstance(patches, list) else True


def _names_crd(patch: Any, folder: str) -> bool:
    if isinstance(patch, dict):
        target = patch.get("target")
        if isinstance(target, dict):
            return selects_crds(target)
        patch = patch.get("patch") or patch.get("path")
    if not isinstance(patch, str):
        return True
    text = patch.encode() if "\n" in patch else read_file(str(Path(folder) / patch), patch, [])
    return text is None or b"kind:" not in text or b"CustomResourceDefinition" in text

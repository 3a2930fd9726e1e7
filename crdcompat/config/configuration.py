"""The configuration as a value, with a default for each key that the file (``configuration_file.py``) does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.crds.shipped import OPENSHIFT_PAYLOAD
from crdcompat.sources.plain_file import inside
from crdcompat.vocabulary import Direction, Owner, Severity
from crdcompat.vocabulary.installers import Installer

NAMES = (".crdcompat.yaml", ".crdcompat.yml")
#: The files of a folder that can hold the configuration; the first one that does counts.
FILES = (*NAMES, "pyproject.toml")
WAIVERS = ".crdcompat-waivers.yaml"
DEFAULTS: dict[str, Any] = {
    "preset": None, "base": None, "rollback_targets": [], "releases": {}, "kubernetes": None,
    "include": [], "exclude": [], "ships": None,
    "variant_annotations": [], "contexts": [], "severities": [], "objects": [], "formats": [], "fail_on": "error",
    "profile": "standard", "status_advice": True, "waivers": WAIVERS, "trust": "change", "installer": None,
}  # fmt: skip
DEFAULT = "default"
FOUND = "found"


class Config(Struct, frozen=True):
    """The effective configuration: ``values`` has every key; ``file`` is None without a configuration file.

    ``origins`` gives the source of each key's value: ``default``, ``found`` (in the repository), or the file's path.
    ``is_elsewhere``: the repository's releases have names like those of OpenShift, but its files are of no OpenShift.
    """

    values: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    origins: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(DEFAULTS, DEFAULT))
    file: Path | None = None
    is_elsewhere: bool = False

    @property
    def base(self) -> str | None:
        found: str | None = self.values["base"]
        return found

    @property
    def preset(self) -> str | None:
        found: str | None = self.values["preset"]
        return found

    @property
    def installer(self) -> Installer | None:
        """Who installs the CRDs, if the configuration says so; else the tree tells."""
        found = self.values["installer"]
        return Installer(found) if found is not None else None

    @property
    def advises(self) -> bool:
        """Whether new fields of status that will be expensive to change are findings."""
        return bool(self.values["status_advice"])

    @property
    def is_strict(self) -> bool:
        """Whether rejections and removals on upgrade are errors."""
        return bool(self.values["profile"] == "strict")

    def says(self, key: str) -> bool:
        """Whether the configuration file has a key, be its value empty."""
        return self.origins[key] not in (DEFAULT, FOUND)

    def with_found(self, key: str, value: Any) -> Config:
        """This configuration with a value that the repository gave."""
        origin = f"{self.origins[key]}, {FOUND}" if self.says(key) else FOUND
        return replace(self, values={**self.values, key: value}, origins={**self.origins, key: origin})

    def with_option(self, key: str, value: str) -> Config:
        """This configuration with the value of an option."""
        return replace(self, values={**self.values, key: value}, origins={**self.origins, key: "option"})

    def with_files(self, include: Sequence[str] | None, exclude: Sequence[str] | None) -> Config:
        """This configuration with the globs of options: ``include`` replaces its own, ``exclude`` adds to it."""
        given = {"include": list(include or ()), "exclude": [*self.values["exclude"], *(exclude or ())]}
        said = {key: value for key, value in given.items() if {"include": include, "exclude": exclude}[key]}
        return replace(
            self, values={**self.values, **said}, origins={**self.origins, **dict.fromkeys(said, "the command line")}
        )

    def runs(self, release: str) -> str:
        """The server version of a release (``1.31``, ``openshift-4.18``) by the key ``releases``; "" if not listed."""
        return str(self.values["releases"].get(release, ""))

    def supports(self, release: str = "") -> tuple[str, ...]:
        """The server versions on which a release has to work by the key ``kubernetes``, oldest first; () without it."""
        if self.values["kubernetes"] is None:
            return ()
        from crdcompat.config.kubernetes import supported

        return supported(self.values["kubernetes"], release)

    @property
    def waiver_file(self) -> Path:
        """The path of the waiver file, whether or not it exists.

        Raises ConfigError if it is outside of the repository.
        """
        path = self.folder / str(self.values["waivers"])
        inside(path, self.folder)
        return path

    @property
    def trusts_change(self) -> bool:
        """Whether waivers and declarations of a change count in its own check, before they are merged."""
        return bool(self.values["trust"] == "change")

    def texts(self, key: str) -> tuple[str, ...]:
        """The value of a key that is a list of strings."""
        return tuple(self.values[key])

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the configuration start at."""
        return self.file.parent if self.file is not None else Path()

    @property
    def recordings(self) -> tuple[str, ...]:
        """The recordings used as evidence; a relative path starts at the configuration's folder.

        Raises ConfigError for one that is outside of the repository.
        """
        found = [self.folder / name for name in self.texts("objects")]
        for path in found:
            inside(path, self.folder)
        return tuple(map(str, found))

    def targets(self, release: str) -> tuple[str, ...] | None:
        """The rollback targets of ``release`` (a branch name); None if the map lacks it: no rollback is supported."""
        found = self.values["rollback_targets"]
        if isinstance(found, dict) and release not in found:
            return None
        return tuple(found if isinstance(found, list) else found[release])

    def wants(self, path: str) -> bool:
        """Whether ``include`` and ``exclude`` let a file be read; ``*`` matches slashes too."""
        included, excluded = self.values["include"], self.values["exclude"]
        if included and not any(fnmatchcase(path, glob) for glob in included):
            return False
        return not excluded or not any(fnmatchcase(path, glob) for glob in excluded)

    @property
    def ships(self) -> tuple[str, ...]:
        """The globs of the payload: the configured ones, else those of the presets that have a payload."""
        found: list[str] | None = self.values["ships"]
        if found is not None:
            return tuple(found)
        return OPENSHIFT_PAYLOAD if self.preset in (None, "openshift") else ()

    @property
    def may_be_openshift(self) -> bool:
        """Whether releases may be those of OpenShift; another preset excludes it."""
        return self.preset == "openshift" or (self.preset is None and not self.is_elsewhere)

    def severity(self, rule: str, direction: Direction, owner: Owner, path: str) -> Severity | None:
        """The severity of the first entry of ``severities`` that matches a finding; None if no entry does."""
        facts = {"rule": rule, "direction": direction, "owner": owner}
        for entry in self.values["severities"]:
            same = all(entry.get(key, value) == value for key, value in facts.items())
            if same and fnmatchcase(path, entry.get("path", "*").replace("[", "[[]")):
                return Severity(entry["severity"])
        return None

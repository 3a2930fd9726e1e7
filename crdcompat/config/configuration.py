"""The configuration: ``.crdcompat.yaml`` or ``[tool.crdcompat]``, found upwards from where the command runs.

Every key is optional. An unknown key is an error that names the most similar known key. Release names are strings:
YAML reads an unquoted 4.10 as the number 4.1, so such numbers are refused.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.crds.shipped import OPENSHIFT_PAYLOAD
from crdcompat.errors import ConfigError
from crdcompat.sources.urls import public_name
from crdcompat.vocabulary import Direction, Owner, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES = (".crdcompat.yaml", ".crdcompat.yml")
WAIVERS = ".crdcompat-waivers.yaml"
_DEFAULTS: dict[str, Any] = {
    "preset": None, "base": None, "rollback_targets": [], "releases": {}, "kubernetes": None,
    "include": [], "exclude": [], "ships": None,
    "variant_annotations": [], "contexts": [], "severities": [], "objects": [], "formats": [], "fail_on": "error",
    "profile": "standard", "status_advice": True, "waivers": WAIVERS,
}  # fmt: skip
_DEFAULT = "default"
FOUND = "found"


class Config(Struct, frozen=True):
    """The effective configuration: ``values`` has every key; ``file`` is None without a configuration file.

    ``origins`` gives the source of each key's value: ``default``, ``found`` (in the repository), or the file's path.
    ``is_elsewhere``: the repository's releases have names like those of OpenShift, but its files are of no OpenShift.
    """

    values: Mapping[str, Any] = field(default_factory=lambda: dict(_DEFAULTS))
    origins: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(_DEFAULTS, _DEFAULT))
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
    def advises(self) -> bool:
        """Whether new fields of status that will be expensive to change are findings."""
        return bool(self.values["status_advice"])

    @property
    def is_strict(self) -> bool:
        """Whether rejections and removals on upgrade are errors."""
        return bool(self.values["profile"] == "strict")

    def says(self, key: str) -> bool:
        """Whether the configuration file has a key, be its value empty."""
        return self.origins[key] not in (_DEFAULT, FOUND)

    def with_found(self, key: str, value: Any) -> Config:
        """This configuration with a value that the repository gave."""
        origin = f"{self.origins[key]}, {FOUND}" if self.says(key) else FOUND
        return replace(self, values={**self.values, key: value}, origins={**self.origins, key: origin})

    def with_profile(self, profile: str) -> Config:
        """This configuration with the profile of an option."""
        return replace(self, values={**self.values, "profile": profile}, origins={**self.origins, "profile": "option"})

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
        """The path of the waiver file, whether or not it exists."""
        return (self.file.parent if self.file is not None else Path()) / str(self.values["waivers"])

    def texts(self, key: str) -> tuple[str, ...]:
        """The value of a key that is a list of strings."""
        return tuple(self.values[key])

    @property
    def recordings(self) -> tuple[str, ...]:
        """The recordings used as evidence; a relative path starts at the configuration's folder."""
        folder = self.file.parent if self.file is not None else Path()
        self._refuse_remote("objects", self.texts("objects"))
        return tuple(name if ":" in name or name == "-" else str(folder / name) for name in self.texts("objects"))

    def targets(self, release: str) -> tuple[str, ...] | None:
        """The rollback targets of ``release`` (a branch name); None if the map lacks it: no rollback is supported."""
        found = self.values["rollback_targets"]
        if isinstance(found, dict) and release not in found:
            return None
        names = tuple(found if isinstance(found, list) else found[release])
        self._refuse_remote("rollback_targets", names)
        return names

    def _refuse_remote(self, key: str, names: tuple[str, ...]) -> None:
        """A pull request can change the configuration; only a person makes the program ask a server."""
        for name in names:
            if "://" in name:
                shown = public_name(name)
                raise ConfigError(f"{self.file}: {key}: {shown}: a URL is read only if the command line names it")

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


def find_config(named: str | None = None, start: Path | None = None) -> Config:
    """Read the configuration file ``named``, else the nearest one from ``start`` upwards, else the defaults.

    The search ends at the top of the git repository. Raises ConfigError.
    """
    if named is not None:
        path = Path(named)
        if not path.is_file():
            raise ConfigError(f"{named}: there is no such configuration file")
        return read_config(path)
    for folder in _upwards((start or Path()).resolve()):
        for name in NAMES:
            if (folder / name).is_file():
                return read_config(folder / name)
        project = folder / "pyproject.toml"
        if project.is_file() and (values := _tool_table(project)) is not None:
            return _config(project, values, None)
    return Config()


def read_config(path: Path) -> Config:
    """Read a YAML configuration file, or a TOML file with a table ``[tool.crdcompat]``. Raises ConfigError."""
    if path.suffix == ".toml":
        values = _tool_table(path)
        if values is None:
            raise ConfigError(f"{path}: there is no table [tool.crdcompat] in it")
        return _config(path, values, None)
    from crdcompat.yaml.validated import read_mapping

    text = _bytes(path)
    return _config(path, read_mapping(path, text), text)


@cache
def config_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    import orjson

    loaded: dict[str, Any] = orjson.loads((Path(__file__).parent / "config.schema.json").read_bytes())
    return loaded


def _config(path: Path, values: dict[str, Any], text: bytes | None) -> Config:
    for line, written, read in _numbers(text) if text is not None else ():
        raise ConfigError(f'{path}:{line}: {written} is a number to YAML ({read}): write it in quotes, "{written}"')
    from crdcompat.findings.rules import rule_names
    from crdcompat.yaml.validated import check_schema, line_suffix

    check_schema(path, values, text, config_schema())

    for index, entry in enumerate(values.get("severities", ())):
        if "rule" in entry and entry["rule"] not in rule_names():
            place = ("severities", index, "rule")
            raise ConfigError(
                f"{path}{line_suffix(text, place)}: {'.'.join(map(str, place))}: there is no rule {entry['rule']!r}"
                " (crdcompat rules lists them)"
            )
    if "kubernetes" in values:
        from crdcompat.config.kubernetes import wrong_range

        if (wrong := wrong_range(values["kubernetes"])) is not None:
            at = ("kubernetes", *wrong[0])
            raise ConfigError(f"{path}{line_suffix(text, at)}: {'.'.join(map(str, at))}: {wrong[1]}")
    origins = {key: str(path) if key in values else _DEFAULT for key in _DEFAULTS}
    return Config({**_DEFAULTS, **values}, origins, path)


def _upwards(folder: Path) -> Iterator[Path]:
    for parent in (folder, *folder.parents):
        yield parent
        if (parent / ".git").exists():
            return


def _tool_table(path: Path) -> dict[str, Any] | None:
    import tomllib

    try:
        tool = tomllib.loads(_bytes(path).decode()).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    found = tool.get("crdcompat") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None


def _numbers(text: bytes) -> Iterator[tuple[int, str, Any]]:
    """The scalars that YAML reads as floats, as (line, text, value): the configuration allows no floats.

    None in JSON that is no YAML, such as pairs of surrogates: its floats are refused without their spelling.
    """
    from yaml.nodes import MappingNode, ScalarNode

    from crdcompat.yaml.scalars import plain_value
    from crdcompat.yaml.streams import Fault, compose_stream

    try:
        pending: list[Any] = list(compose_stream(text))
    except Fault:
        return
    while pending:
        node = pending.pop(0)
        if isinstance(node, ScalarNode):
            if node.tag.endswith(":float"):
                yield node.start_mark.line + 1, node.value, plain_value(node.value)
        elif isinstance(node, MappingNode):
            pending[:0] = [part for pair in node.value for part in pair]
        else:
            pending[:0] = node.value

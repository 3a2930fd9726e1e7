"""Find and read the configuration file: ``.crdcompat.yaml``, or ``[tool.crdcompat]`` in ``pyproject.toml``.

Every key is optional. An unknown key is an error that names the most similar known key. Release names are strings:
YAML reads an unquoted 4.10 as the number 4.1, so such numbers are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from crdcompat.config.configuration import DEFAULT, DEFAULTS, FILES, Config
from crdcompat.errors import ConfigError
from crdcompat.program import typed
from crdcompat.sources.plain_file import read_plain, top_of

#: A second or two to check; a configuration by hand has some KB.
_MAX_BYTES = 256 << 10


def find_config(named: str | None = None, start: Path | None = None) -> Config:
    """Read the configuration file ``named``, else the nearest one from ``start`` upwards, else the defaults.

    The search ends at the top of the git repository. Raises ConfigError.
    """
    if named is not None:
        return read_config(Path(named), named=True)
    for folder in upwards((start or Path()).resolve()):
        for name in FILES:
            path = folder / name
            text = read_plain(path, folder)
            if text is not None and (found := parse_config(path, text, named=False)) is not None:
                return found
    return Config()


def read_config(path: Path, *, named: bool = False) -> Config:
    """Read a YAML configuration file, or a TOML file with a table ``[tool.crdcompat]``; ``named``: by a person.

    Raises ConfigError.
    """
    text = read_plain(path, None if named else path.parent)
    if text is None:
        raise ConfigError(f"{path}: there is no such configuration file")
    found = parse_config(path, text, named=True)
    assert found is not None, path
    return found


def parse_config(path: Path, text: bytes, *, named: bool) -> Config | None:
    """The configuration in the bytes of a file; None for a TOML file without its table, unless it is ``named``.

    Raises ConfigError.
    """
    if path.suffix != ".toml":
        from crdcompat.yaml.validated import read_mapping

        _check_size(path, text)
        return _config(path, read_mapping(path, text), text)
    values = _tool_table(path, text)
    if values is None and named:
        raise ConfigError(f"{path}: there is no table [tool.crdcompat] in it")
    if values is None:
        return None
    _check_size(path, text)
    return _config(path, values, None)


def _check_size(path: Path, text: bytes) -> None:
    if len(text) > _MAX_BYTES:
        raise ConfigError(f"{path}: larger than {_MAX_BYTES >> 10} KB: too large for a configuration")


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
                f" ({typed()} rules lists them)"
            )
    if "kubernetes" in values:
        from crdcompat.config.kubernetes import wrong_range

        if (wrong := wrong_range(values["kubernetes"])) is not None:
            at = ("kubernetes", *wrong[0])
            raise ConfigError(f"{path}{line_suffix(text, at)}: {'.'.join(map(str, at))}: {wrong[1]}")
    from crdcompat.config.refusals import refusals

    for pointer, sentence in refusals(values):
        raise ConfigError(f"{path}{line_suffix(text, pointer)}: {sentence}")
    origins = {key: str(path) if key in values else DEFAULT for key in DEFAULTS}
    return Config({**DEFAULTS, **values}, origins, path)


def upwards(folder: Path) -> Iterator[Path]:
    """A folder and those above it, up to the top of its git repository."""
    top = top_of(folder)
    for parent in (folder, *folder.parents):
        yield parent
        if parent == top:
            return


def _tool_table(path: Path, text: bytes) -> dict[str, Any] | None:
    import tomllib

    try:
        tool = tomllib.loads(text.decode()).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    found = tool.get("crdcompat") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else None


def _numbers(text: bytes) -> Iterator[tuple[int, str, Any]]:
    """The scalars that YAML reads as floats, as (line, text, value): the configuration allows no floats.

    None in JSON that is no YAML, such as pairs of surrogates: its floats are refused without their spelling.
    """
    from yaml.nodes import MappingNode, ScalarNode

    from crdcompat.yaml.scalars import plain_value
    from crdcompat.yaml.streams import Fault, compose_stream

    try:
        pending: list[Any] = [*reversed(list(compose_stream(text)))]
    except Fault:
        return
    while pending:
        node = pending.pop()
        if isinstance(node, ScalarNode):
            if node.tag.endswith(":float"):
                yield node.start_mark.line + 1, node.value, plain_value(node.value)
        elif isinstance(node, MappingNode):
            pending += [part for pair in reversed(node.value) for part in reversed(pair)]
        else:
            pending += reversed(node.value)

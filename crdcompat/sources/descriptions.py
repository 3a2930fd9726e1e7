"""Files that describe packages: ``Chart.yaml``, kustomizations, catalogs, the indexes of images.

They come from others, so each value in them can have any type. A value of a wrong type counts as absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # without libyaml, the slow loader

#: The errors of `load_yaml`: damage, a value that is out of range, such as a date, and too many levels.
YAML_ERRORS = (yaml.YAMLError, ValueError, RecursionError)


def load_yaml(data: bytes) -> Any:
    """The value of a text with one YAML document. Raises `YAML_ERRORS`."""
    return yaml.load(data, _Loader)


def load_documents(data: bytes) -> list[Any]:
    """The values of the YAML documents of a text. Raises `YAML_ERRORS`."""
    return list(yaml.load_all(data, _Loader))


def load_object(data: bytes) -> Mapping[str, Any]:
    """The object that is a YAML document; {} if it is damaged or has another value."""
    try:
        return object_of(load_yaml(data))
    except YAML_ERRORS:
        return {}


def list_of(value: Any) -> list[Any]:
    """A value that is a list; [] for any other."""
    return value if isinstance(value, list) else []


def object_of(value: Any) -> Mapping[str, Any]:
    """A value that is an object; {} for any other."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[Mapping[str, Any]]:
    """The items of a list that are objects; [] for any other value."""
    return [each for each in list_of(value) if isinstance(each, dict)]

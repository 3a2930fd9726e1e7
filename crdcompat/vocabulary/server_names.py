"""The names of API servers: a Kubernetes minor, or a release of OpenShift, and how sentences list them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec import Struct

_OPENSHIFT = "openshift-"


class ServerName(Struct, frozen=True):
    """A server as sentences name it: ``Kubernetes`` ``1.28``, ``OpenShift`` ``4.15``."""

    product: str
    number: str

    @property
    def id(self) -> str:
        """The version as the configuration spells it: ``1.28``, ``openshift-4.15``."""
        return self.number if self.product == "Kubernetes" else f"{_OPENSHIFT}{self.number}"

    def __str__(self) -> str:
        return f"{self.product} {self.number}"


def named(version: str) -> ServerName:
    """The name of a server by its ``id``."""
    product = "OpenShift" if version.startswith(_OPENSHIFT) else "Kubernetes"
    return ServerName(product, version.removeprefix(_OPENSHIFT))


def spans(names: Iterable[ServerName]) -> str:
    """Servers as a sentence lists them: ``Kubernetes 1.28, 1.31 to 1.36 and OpenShift 4.14 to 4.16``."""
    parts = []
    for product, of_product in groupby(names, key=lambda name: name.product):
        runs = [_run([name.number for _, name in run]) for _, run in groupby(enumerate(of_product), key=_offset)]
        parts.append(f"{product} {_listed(runs)}")
    return _listed(parts)


def needed(since: ServerName | None, until: ServerName | None, refused: Iterable[ServerName]) -> str:
    """The predicate of a sentence about the needed servers: ``needs Kubernetes 1.31 or later``."""
    if since is not None and until is None:
        return f"needs {since} or later"
    if until is not None and since is None:
        return f"needs {until} or earlier"
    return f"is refused by {spans(refused)}"


def _offset(each: tuple[int, ServerName]) -> tuple[str, int]:
    """A key that is equal for consecutive versions in a numbered list."""
    index, name = each
    major, _, minor = name.number.partition(".")
    return major, int(minor) - index


def _run(numbers: Sequence[str]) -> str:
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))

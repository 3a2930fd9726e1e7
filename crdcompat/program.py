"""The name of the program, as its user typed it."""

from __future__ import annotations

import sys
from pathlib import PurePath

NAME = "crdcompat"
#: Programs that run ``<program>-crdcompat`` as their command ``crdcompat``.
_HOSTS = ("kubectl", "oc")


def typed() -> str:
    """``crdcompat``; as a plugin ``kubectl crdcompat`` or ``oc crdcompat``."""
    host = PurePath(sys.argv[0]).stem.removesuffix(f"-{NAME}")
    return f"{host} {NAME}" if host in _HOSTS else NAME

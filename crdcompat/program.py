"""The name of the program, as its user typed it, and whether CI runs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import PurePath

NAME = "crdcompat"
#: Programs that run ``<program>-crdcompat`` as their command ``crdcompat``.
_HOSTS = ("kubectl", "oc")
#: Variables that CI systems set.
_CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "PROW_JOB_ID", "JENKINS_URL", "BUILDKITE", "TF_BUILD", "TEAMCITY_VERSION")
_OFF = ("", "0", "false", "no")


def typed() -> str:
    """``crdcompat``; as a plugin ``kubectl crdcompat`` or ``oc crdcompat``."""
    host = PurePath(sys.argv[0]).stem.removesuffix(f"-{NAME}")
    return f"{host} {NAME}" if host in _HOSTS else NAME


def runs_in_ci(environment: Mapping[str, str] = os.environ, *more: str) -> bool:
    """Whether a CI system runs the program; ``more`` are further variables that only CI sets."""
    return any(environment.get(name, "").lower() not in _OFF for name in (*_CI, *more))

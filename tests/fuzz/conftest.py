"""What all fuzzers share: real CRDs to start from."""

from __future__ import annotations

import pytest
from helpers import Json
from hostile import real_crds
from offline import PROJECT


@pytest.fixture(scope="session")
def real(request: pytest.FixtureRequest) -> list[Json]:
    """CRDs of several projects where there are any, else those of the demo."""
    return real_crds(
        lambda: request.getfixturevalue("openshift_api"),
        lambda: request.getfixturevalue("projects"),
        str(PROJECT / "fixtures"),
    )

"""A rule about one part of a string: the witness is a valid string with another such part."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import both, crd, diff, obj, only, prove, root, string

_DIGEST = "self.split('@').size() == 2 && self.split('@')[1].matches('^sha256:[a-f0-9]{64}$')"
_OLD_NAME, _NEW_NAME = (
    rf"(self.split('@')[0].matches('^{host}(:[0-9]{{2,5}})?/[a-z]+$'))"
    for host in (r"([a-z0-9-]+\\.)+[a-z0-9-]+", r"(localhost|([a-z0-9-]+\\.)+[a-z0-9-]+)")
)


def test_the_name_of_an_image_with_a_digest(tmp_path: Path) -> None:
    """openshift/api 4.21 -> 4.22: the host of an image may be localhost."""
    old, new = (
        root(
            status=obj(
                image=string(
                    **{"x-kubernetes-validations": [{"rule": rule} for rule in (_DIGEST, name)]}, maxLength=447
                )
            )
        )
        for name in (_OLD_NAME, _NEW_NAME)
    )
    finding = only(diff(*both(tmp_path, old, new)), rule="cel-rule-changed")
    prove(finding, crd(old), crd(new))
    assert (finding["direction"], finding["severity"]) == ("rollback", "warning")
    name, _, digest = finding["witness"]["object"]["status"]["image"].partition("@")
    assert name.startswith("localhost/")
    assert digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        ("self.split('/')[1].matches('^[ab]$')", "self.split('/')[1].matches('^a$')", "a/b"),
        (r"self.split('/')[1].matches(r'^\d$')", 'self.split("/")[1].matches("^[0-8]$")', "0.0.0.0/9"),
    ],
)
def test_a_part_that_only_the_writer_accepts(tmp_path: Path, writer: str, reader: str, expected: str) -> None:
    old, new = (root(spec=obj(v=string(**{"x-kubernetes-validations": [{"rule": rule}]}))) for rule in (reader, writer))
    finding = only(diff(*both(tmp_path, old, new)), direction="rollback")
    prove(finding, crd(old), crd(new))
    assert finding["witness"]["object"]["spec"]["v"] == expected

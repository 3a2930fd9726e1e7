"""Where a CRD that is gone may be: in a folder whose files are passed over."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import check, repository, widget
from helpers import commit, crd, git, root, write


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("vendor/lib/w.yaml", " (vendor/lib/w.yaml has the name of its file and is passed over: vendored)"),
        ("testdata/w.yaml", " (testdata/w.yaml has the name of its file and is passed over: test data)"),
        ("vendor/lib/other.yaml", ""),
        (None, ""),
    ],
)
@pytest.mark.parametrize("has_another", [True, False], ids=["beside another CRD", "the only CRD"])
def test_a_crd_that_is_gone_blocks_and_its_file_is_named(
    tmp_path: Path, to: str | None, said: str, has_another: bool
) -> None:
    repo = repository(tmp_path)
    another = {"g.yaml": crd(root(), kind="Gadget")} if has_another else {}
    commit(repo, {"config/w.yaml": widget("A"), "vendor/old/w.yaml": widget("A"), **another})
    git(repo, "branch", "release-1.1")
    (repo / "config" / "w.yaml").unlink()
    if to is not None:
        write(repo / to, widget("A"))
    git(repo, "add", "-A")
    report = check(repo, "--base", "main", "--target", "release-1.1", code=1)
    assert report["verdict"] == "blocked"
    for section in report["sections"]:
        (finding,) = section["findings"]
        assert (finding["rule"], finding["severity"]) == ("crd-removed", "error")
        assert finding["message"].endswith(f"no controller of this change watches{said}")

"""What differs between two commits: which paths are submodules, and which name other files."""

from __future__ import annotations

from pathlib import Path

from changes import repository
from helpers import commit, git

from crdcompat.sources.differing import differences
from crdcompat.sources.repository import Repository


def test_what_differs(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    first = commit(repo, {"a.yaml": "a", "old/Chart.yaml": "a", "b/kustomization.yaml": "a", "same": "a"})
    (repo / "more").symlink_to("b")
    commit(repo, {"a.yaml": "b", "old/Chart.yaml": None, "b/kustomization.yaml": "b", "kustomization.yaml.md": "a"})
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{first},sub")
    git(repo, "commit", "--quiet", "--message", "a submodule")
    second = git(repo, "rev-parse", "HEAD").strip()
    found = differences(Repository(str(repo)), first, second)
    assert [(each.path, each.names_files, each.is_submodule, each.commits) for each in found] == [
        ("a.yaml", False, False, None),
        ("b/kustomization.yaml", True, False, None),
        ("kustomization.yaml.md", False, False, None),
        ("more", True, False, None),
        ("old/Chart.yaml", False, False, None),
        ("sub", False, True, ("", first)),
    ]
    assert [each.path for each in differences(Repository(str(repo)), first)] == [each.path for each in found]

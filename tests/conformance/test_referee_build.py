"""Building the API servers, as far as it needs no Go."""

from __future__ import annotations

from pathlib import Path

import pytest
import referee_build
from referee_build import CannotBuildError, build, built, main, recipes

from crdcompat.apiserver.versions import kubernetes_server


def test_each_minor_has_a_recipe_that_the_program_can_judge() -> None:
    assert set(referee_build.USUAL) <= recipes().keys()
    for minor, recipe in recipes().items():
        assert recipe.kubernetes.startswith(f"v0.{kubernetes_server(minor).minor}.")
        assert f"k8s.io/apiextensions-apiserver {recipe.kubernetes}\n" in recipe.go_mod


def test_without_go_nothing_is_built_and_it_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotBuildError, match="there is no `go` command"):
        build(recipes()["1.31"], tmp_path)
    assert built(tmp_path) == {}


def test_a_binary_counts_only_for_the_sources_it_is_built_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recipe = recipes()["1.31"]
    binary = recipe.binary(tmp_path)
    binary.parent.mkdir(parents=True)
    binary.touch()
    assert built(tmp_path) == {"1.31": binary}
    assert build(recipe, tmp_path) == binary  # no Go is asked for
    sources = tmp_path / "server"
    sources.mkdir()
    (sources / "main.go").write_text("package main\n")
    monkeypatch.setattr(referee_build, "_SERVER", sources)
    assert built(tmp_path) == {}


def test_a_minor_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["1.5"]) == 2
    assert capsys.readouterr().err.startswith("1.5: not one of 1.26, ")

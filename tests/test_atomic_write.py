"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from crdcompat.atomic_write import write_file


def test_a_failed_write_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "w.yaml"
    file.write_text("before")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_file(file, b"after")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"w.yaml": "before"}


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    file, link = tmp_path / "w.yaml", tmp_path / "link.yaml"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file.name)
    write_file(link, b"after")
    assert (file.read_text(), file.stat().st_mode & 0o777, link.is_symlink()) == ("after", 0o640, True)


def test_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "none/w.yaml", b"data")
    assert list(tmp_path.iterdir()) == []

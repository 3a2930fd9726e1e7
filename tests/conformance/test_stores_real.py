"""``s3://`` with the server of moto.

Skipped where ``moto_server`` is not on the PATH. ``pip install 'moto[server]'`` into a virtual environment of its own:
it needs other releases of libraries than the tests do.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from loopback import s3_settings
from packed_sources import NEW, OLD, chart, tar

_RELEASES = {
    "1.0/a.yaml": OLD,
    "1.0/b/c.yaml": OLD,
    "1.1/a.yaml": NEW,
    "1.1/all.tgz": tar({"crds/a.yaml": NEW}, "w:gz"),
    "1.1/chart.tgz": tar(chart(NEW), "w:gz"),
    "damaged.tgz": tar({"crds/a.yaml": NEW}, "w:gz")[:60],
}


@contextmanager
def _started(command: list[str]) -> Iterator[str]:
    """The address of a server that runs while the block does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    ran = subprocess.Popen([*command, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with closing(socket.socket()) as tried:
                if not tried.connect_ex(("127.0.0.1", port)):
                    break
            assert ran.poll() is None
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        ran.terminate()
        ran.wait()


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """The environment in which a store has the bucket ``releases``."""
    if shutil.which("moto_server") is None or subprocess.run(["moto_server", "--help"], capture_output=True).returncode:
        pytest.skip("no moto_server that runs")
    from s3fs import S3FileSystem

    with _started(["moto_server", "-H", "127.0.0.1", "-p"]) as host:
        url = f"http://{host}"
        system = S3FileSystem(endpoint_url=url, key="key", secret="secret", skip_instance_cache=True)
        system.call_s3("create_bucket", Bucket="releases")
        for name, data in _RELEASES.items():
            system.pipe_file(f"releases/{name}", data)
        yield {**os.environ, **s3_settings(host)}


@pytest.mark.parametrize(
    ("old", "new"),
    [("1.0/a.yaml", "1.1/a.yaml"), ("1.0/", "1.1/all.tgz"), ("1.0", "1.1/chart.tgz"), ("1.0/b/", "1.1/")],
)
def test_files_folders_archives_and_charts(store: dict[str, str], old: str, new: str) -> None:
    ran = _diff(store, old, new)
    assert [each["added"] for each in json.loads(ran.stdout)["findings"]] == [["Failed"]], ran.stderr
    assert (ran.returncode, ran.stderr) == (1, "")


@pytest.mark.parametrize(
    ("name", "words"),
    [("damaged.tgz", "cut short: it ends in the middle"), ("none.yaml", "there is no such file (404)")],
)
def test_files_that_are_of_no_use(store: dict[str, str], name: str, words: str) -> None:
    ran = _diff(store, name, "1.1/a.yaml")
    assert (ran.returncode, words in ran.stdout + ran.stderr) == (2, True), ran


def _diff(store: dict[str, str], old: str, new: str) -> subprocess.CompletedProcess[str]:
    top = "s3://releases"
    command = [sys.executable, "-m", "crdcompat", "diff", f"{top}/{old}", f"{top}/{new}", "--format", "json"]
    return subprocess.run(command, env=store, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)

"""crdcompat verify REPORT: ask a real API server about the witnesses of a report."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from crdcompat.cli import options as o
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import COMPARISON, Configured, Settings, end
from crdcompat.vocabulary import FailOn

if TYPE_CHECKING:
    from crdcompat.features.verify.scratch_cluster import ScratchCluster
    from crdcompat.models.verification import ClaimingReport


def verify(
    report: Annotated[str, typer.Argument(metavar="REPORT", help="The JSON report of diff; - is standard input.")],
    old: Annotated[
        str | None, typer.Argument(metavar="OLD", help="The older release (default: the one that the report names).")
    ] = None,
    new: Annotated[str | None, typer.Argument(metavar="NEW", help="The newer release (default: likewise).")] = None,
    server: Annotated[
        str | None,
        typer.Option(metavar="CONTEXT", help="The kubeconfig context of an empty API server (kind, envtest)."),
    ] = None,
    assets: Annotated[
        str | None, typer.Option(metavar="DIR", help="Start etcd and kube-apiserver from this folder, e.g. of envtest.")
    ] = None,
    *,
    configured: Annotated[
        Configured,
        # A refuted finding always fails.
        varied(
            *COMPARISON,
            "allow_unknown",
            "fail_on",
            helps={"formats": "How to report: text, json; may be repeated."},
            fail_on=FailOn.ERROR,
            usual=("text",),
        ),
    ],
    output: Annotated[o.Output, varied("verbose", "redact")],
    requests: o.Requests,
) -> None:
    """Check the example objects of a report on a real API server.

    The server must be empty. Each finding is confirmed, refuted or not testable.

    The CRDs of both releases are installed in turn, and removed; example objects are sent as dry runs. A cluster that
    has one of these CRDs is refused.
    """
    from crdcompat.errors import UsageError
    from crdcompat.features.verify.report_file import read_report

    if (server is None) == (assets is None):
        raise UsageError("name an empty API server: --server CONTEXT, or --assets DIR to start one")
    if (old is None) != (new is None):
        raise UsageError("name both releases, OLD and NEW, or neither: the report names them then")
    settings = configured.settings("verify", output)
    timeouts = requests.connect_timeout, requests.read_timeout
    raise typer.Exit(_run(Asked(read_report(report), old, new, server, assets, configured.repo, settings, timeouts)))


class Asked(Struct, frozen=True):
    """What the command line asks for."""

    report: ClaimingReport
    old: str | None
    new: str | None
    server: str | None
    assets: str | None
    repo: str | None
    settings: Settings
    timeouts: tuple[float, float]


def _run(asked: Asked) -> int:
    """Ask, and write the report. Returns the exit code (docs/formats.md#exit-codes)."""

    from crdcompat.cli.progress import progress
    from crdcompat.config.applied import both_sides
    from crdcompat.features.verify.verify_workflow import verify as put
    from crdcompat.vocabulary.steps import stepping

    # Releases in git are read by the commits of the report, because the names may refer to other commits by now.
    old, new = (
        named or (f"git:{release.commit}" if release.commit else release.name)
        for named, release in ((asked.old, asked.report.old), (asked.new, asked.report.new))
    )
    total = len(asked.report.claims)
    with progress(wanted=asked.settings.output.has_bars), _ended_by_signals(), ExitStack() as stack:
        cluster = None
        if asked.server is not None:  # a server that does not answer is reported before the releases are read
            cluster = stack.enter_context(_cluster(asked))
            cluster.version()
        # The findings of the report are already sorted.
        before, after = both_sides(old, new, asked.settings.config, asked.repo, command="verify", any_order=True)
        report = put(
            asked.report,
            before,
            after,
            cluster or stack.enter_context(_cluster(asked)),
            lambda items: stepping(items, "Findings answered by the server", total),
        )
    return end(report, asked.settings)


@contextmanager
def _cluster(asked: Asked) -> Iterator[ScratchCluster]:
    from crdcompat.features.verify.scratch_cluster import ScratchCluster
    from crdcompat.render.escape import warn
    from crdcompat.sources.cluster_client import UNVERIFIED, Client, Timeouts

    with ExitStack() as stack:
        kubeconfig = None
        if asked.assets is not None:
            from crdcompat.features.verify import envtest

            kubeconfig = stack.enter_context(envtest.running(asked.assets))
        name = "--assets" if asked.server is None else f"--server {asked.server}"
        client = Client(name, asked.server or "", kubeconfig, Timeouts(*asked.timeouts))
        if client.is_unverified:
            warn(f"{name}: {UNVERIFIED}")
        stack.enter_context(client.session())
        yield ScratchCluster(client)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the run as Ctrl-C does: what was installed is removed first. An ignored signal stays ignored."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_IGN:
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

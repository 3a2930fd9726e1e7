"""crdcompat record [OLD] --cluster CONTEXT -o FILE: the smallest file from which preflight gives the same answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.settings import Place


def record(
    old: Annotated[
        str | None,
        typer.Argument(
            metavar="[OLD]", help="Record only the values that a rollback to this release needs (default: all)."
        ),
    ] = None,
    cluster: Annotated[str, typer.Option(metavar="CONTEXT", help="A kubeconfig context; in a pod: in-cluster.")] = ...,  # type: ignore[assignment]
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The file to write: FILE.json, or FILE.json.gz.")
    ] = ...,  # type: ignore[assignment]
    hash_names: Annotated[
        bool, typer.Option("--hash-names", help="Replace names and namespaces of objects by hashes.")
    ] = False,
    redact: Annotated[bool, typer.Option("--redact", help="Replace values of objects outside of enums.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the kinds that FILE has whole, and read the others only.")
    ] = False,
    context: o.ClusterContext = None,
    *,
    place: Place,
    requests: o.Requests,
    no_progress: o.NoProgress = False,
) -> None:
    """Record from a cluster, in a small file, what preflight needs.

    preflight, simulate and other commands take it with --objects. Values that look like secrets are masked.
    Exit code 2: something could not be recorded.
    """
    from crdcompat.atomic_write import packed, replacing
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.config.applied import read_source, reader_for
    from crdcompat.errors import UsageError
    from crdcompat.features.preflight.asked_cluster import LiveCluster, RecordedCluster
    from crdcompat.features.record.record_workflow import RECORDING_NAMES, RecordOptions
    from crdcompat.features.record.record_workflow import record as run
    from crdcompat.render.escape import warn
    from crdcompat.render.wording.findings import plural
    from crdcompat.sources import open_cluster, open_objects
    from crdcompat.sources.files import MAX_FILE_BYTES
    from crdcompat.vocabulary import ExitCode, Side
    from crdcompat.vocabulary.texts import some

    if not output.lower().endswith(RECORDING_NAMES):
        raise UsageError(
            f"-o {output}: a recording is a file called {' or '.join(f'NAME{end}' for end in RECORDING_NAMES)}"
        )
    requests.apply()
    config = place.found()
    reader = reader_for(config)
    target = read_source(old, Side.OLD, reader, config, place.repo) if old is not None else None
    if target is not None and not target.documents:
        raise UsageError(f"no CRD in {target.name}")
    counted = RecordedProgress()
    tree = open_cluster(cluster)
    for note in tree.notes:
        warn(note)
    asked = LiveCluster(tree, reader, counted.file)
    options = RecordOptions(context=context, hash_names=hash_names, redact=redact)
    path = Path(output)
    if resume and hash_names:
        raise UsageError("--resume: --hash-names gives names other hashes in each run: record anew")
    earlier = RecordedCluster([open_objects(f"recording:{output}")], reader, None) if resume and path.exists() else None
    try:
        with progress(wanted=not no_progress), replacing(path) as file, packed(path, file) as out:
            done = run(target, asked, options, out, counted.each, earlier)
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
    for item in done.missing:
        warn(f"missing: {item.what}: {item.reason}")
    for note in asked.notes():
        warn(note)
    if done.kept:
        warn(f"kept from the earlier run, as they were then: {some(done.kept)}")
    warn(f"wrote {output}: {plural(done.objects, 'object')}, {path.stat().st_size} bytes")
    is_too_large = done.size > MAX_FILE_BYTES
    if is_too_large:
        warn(f"{output} has {done.size} bytes unpacked, and no command reads more than {MAX_FILE_BYTES}")
    raise typer.Exit(ExitCode.NOT_DONE if done.missing or is_too_large else ExitCode.CLEAN)

"""crdcompat judge CRD OBJECT: judges one write as the API server would."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.choices import Colour
from crdcompat.vocabulary.judging import FieldValidation


class Operation(StrEnum):
    """The kinds of write (words as in the NDJSON requests)."""

    create = "create"
    validate = "validate"
    update = "update"
    updateStatus = "updateStatus"  # noqa: N815 - the words are fixed
    mergePatch = "mergePatch"  # noqa: N815
    mergePatchStatus = "mergePatchStatus"  # noqa: N815
    mergePatchScale = "mergePatchScale"  # noqa: N815
    jsonPatch = "jsonPatch"  # noqa: N815
    jsonPatchStatus = "jsonPatchStatus"  # noqa: N815
    jsonPatchScale = "jsonPatchScale"  # noqa: N815
    apply = "apply"
    applyStatus = "applyStatus"  # noqa: N815
    scale = "scale"
    getScale = "getScale"  # noqa: N815


class Output(StrEnum):
    """How to answer."""

    text = "text"
    json = "json"


def judge(
    crd: Annotated[str | None, typer.Argument(metavar="CRD", help="The file of the CRD.")] = None,
    new: Annotated[
        str | None,
        typer.Argument(metavar="OBJECT", help="The object to write; -: standard input. Without it, the CRD is judged."),
    ] = None,
    op: Annotated[
        Operation,
        typer.Option(
            metavar="OP",
            help="create, validate (create that keeps status), update, mergePatch, jsonPatch, apply (each also with"
            " Status at its end), scale, mergePatchScale, jsonPatchScale or getScale.",
        ),
    ] = Operation.create,
    old: Annotated[
        str | None, typer.Option(metavar="FILE", help="For updates: the stored object. Without OBJECT: the stored CRD.")
    ] = None,
    version: Annotated[str | None, typer.Option(help="The CRD's version (default: the object's).")] = None,
    *,
    servers: o.Servers,
    ratcheting: Annotated[
        bool | None, typer.Option(help="Set the feature gate CRDValidationRatcheting (default: as on the server).")
    ] = None,
    manager: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The field manager of an apply: what it owned and no longer sends goes, and fields of others are a"
            " conflict (default: a manager that owns nothing, by force).",
        ),
    ] = None,
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="With --manager: take fields from other managers.")
    ] = False,
    field_validation: Annotated[
        FieldValidation,
        typer.Option(
            help="What to do about unknown and duplicate fields; kubectl asks for Strict.", case_sensitive=False
        ),
    ] = FieldValidation.WARN,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="As a dry run, which etcd does not see.")] = False,
    requests: Annotated[
        str | None, typer.Option(metavar="FILE", help="Answer NDJSON requests, one line each; - is standard input.")
    ] = None,
    redact: Annotated[
        bool,
        typer.Option("--redact", help="Hide values of the object, except members of enums.", rich_help_panel=o.OUTPUT),
    ] = False,
    output: Annotated[Output, typer.Option("--format", help="How to answer.")] = Output.text,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the whole answer of the server.", rich_help_panel=o.OUTPUT)
    ] = False,
    color: o.ColourOption = Colour.auto,
) -> None:
    """Judge one write as the API server would.

    The write is of an object or of a CRD. Exit code 0: accepted, 1: rejected, 2: unknown.
    """
    import sys

    from crdcompat.apiserver.ownership import Applier
    from crdcompat.errors import UsageError
    from crdcompat.features.judge import batch, one_write
    from crdcompat.render.write import style_for

    if requests is not None:
        raise typer.Exit(batch.answer_requests(requests, redact=redact))
    if crd is None:
        raise UsageError("judge needs a CRD file, and an object file to judge an object (or --requests FILE)")
    if op is Operation.getScale:
        new = new or old
    if new is None and (op is not Operation.create or version is not None):
        raise UsageError("--op and --version are about an object: judge needs its file after the CRD's")
    if manager is None and force_conflicts:
        raise UsageError("--force-conflicts is about an apply by a manager: name it with --manager")
    request = one_write.Question(
        crd=crd,
        new=new,
        old=old,
        op=op.value,
        version=version,
        server=servers.chosen(),
        ratcheting=ratcheting,
        redact=redact,
        applier=None if manager is None else Applier(manager, force_conflicts),
        validation=field_validation,
        dry_run=dry_run,
    )
    style = style_for(sys.stdout, color.value, int(verbose)) if output is Output.text else None
    raise typer.Exit(one_write.answer(request, style))

"""Groups of options: a class whose fields are options. A command takes a group as one parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import fields
from typer.models import OptionInfo


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a parameter for each option of its groups, as typer reads parameters.

    A field of a group is an option if its type names one: a command that lacks an option of a group declares the field
    without, in a class of its own.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[type[Struct], list[str]]] = {}
    for each in signature(command, eval_str=True).parameters.values():
        if isinstance(each.annotation, type) and issubclass(each.annotation, Struct):
            options = list(_options(each.annotation))
            groups[each.name] = each.annotation, [option.name for option in options]
            parameters += options
        else:
            parameters.append(each.replace(kind=Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        for name, (group, options) in groups.items():
            given[name] = group(**{option: given.pop(option) for option in options})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _options(group: type[Struct]) -> Iterator[Parameter]:
    """The options of a group; one without a heading in the help has that of the group."""
    for each in fields(group):
        option = next((about for about in getattr(each.type, "__metadata__", ()) if _is_option(about)), None)
        if option is not None:
            option = copy(option)
            option.rich_help_panel = option.rich_help_panel or getattr(group, "HEADING", None)
            annotation: Any = Annotated.__class_getitem__((each.type.__origin__, option))  # type: ignore[attr-defined]
            yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=annotation)


def _is_option(about: object) -> bool:
    return isinstance(about, OptionInfo)

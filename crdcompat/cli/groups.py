"""Groups of options: a class whose fields are options. A command takes a group as one parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args

from msgspec import Struct
from msgspec.structs import fields
from typer.models import OptionInfo


class Variation(Struct, frozen=True):
    """How a command takes a group: ``without`` some options, with other ``helps``, and with its own ``values``."""

    without: tuple[str, ...] = ()
    helps: Mapping[str, str] = {}
    values: Mapping[str, Any] = {}


def varied(*without: str, helps: Mapping[str, str] | None = None, **values: Any) -> Variation:
    """The note in ``Annotated[Group, varied(…)]``: options that the command lacks, other helps, other defaults."""
    return Variation(without, helps or {}, values)


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a parameter for each option of its groups, as typer reads parameters.

    A field of a group is an option if its type names one, and the command's variation of the group has it.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[type[Struct], list[str], Mapping[str, Any]]] = {}
    for each in signature(command, eval_str=True).parameters.values():
        group, *about = get_args(each.annotation) or (each.annotation,)
        if isinstance(group, type) and issubclass(group, Struct):
            variation = next((one for one in about if isinstance(one, Variation)), Variation())
            options = list(_options(group, variation))
            groups[each.name] = group, [option.name for option in options], variation.values
            parameters += options
        else:
            parameters.append(each.replace(kind=Parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        for name, (group, options, values) in groups.items():
            given[name] = group(**{**values, **{option: given.pop(option) for option in options}})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _options(group: type[Struct], variation: Variation) -> Iterator[Parameter]:
    """The options of a group; an option without a heading in the help has the group's heading."""
    for each in fields(group):
        option = next((about for about in getattr(each.type, "__metadata__", ()) if _is_option(about)), None)
        if option is not None and each.name not in variation.without:
            option = copy(option)
            option.help = variation.helps.get(each.name, option.help)
            option.rich_help_panel = option.rich_help_panel or getattr(group, "HEADING", None)
            annotation: Any = Annotated[each.type.__origin__, option]
            yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=annotation)


def _is_option(about: object) -> bool:
    return isinstance(about, OptionInfo)

"""A page: few kinds of block, which text, Markdown and HTML each show in their own way.

A page knows no terminal and no markup. ``tone`` is a word of the vocabulary, such as ``blocked`` or ``refused``: text
gives it a colour, HTML a class.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crdcompat.models.finding import Excerpt


class Fold(Enum):
    """Where text breaks a long line."""

    NEVER = auto()
    """Commands and short lines."""
    TERMINAL = auto()
    """Only to the width of a terminal: in a file, a sentence is one line, for grep."""
    ALWAYS = auto()


class Line(Struct, frozen=True):
    """A paragraph, or an entry of a list, with the lines ``below`` it and the commands to copy.

    ``mark`` stands before the text: a place or a CRD. ``tone`` is the tone of a ``part`` of the text, or of all of
    it. ``lead`` is the beginning of the text, which is never cut. ``depth`` counts the steps of indentation,
    ``hang`` the steps for all lines but the first. ``most``: text cuts it to so many lines, or to ``spare`` more if
    cuts in quotations are not enough; 0: never. On an HTML page ``anchors`` are its places, ``links`` other places,
    each with its text.
    """

    text: str
    mark: str = ""
    tone: str = ""
    part: str = ""
    depth: int = 1
    hang: int = 1
    fold: Fold = Fold.TERMINAL
    most: int = 0
    below: tuple[Line, ...] = ()
    commands: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    lead: str = ""
    spare: int = 0
    links: tuple[tuple[str, str], ...] = ()


class Listing(Struct, frozen=True):
    """Entries, numbered if they are ``ordered``.

    Without ``-v`` text shows ``most`` of them, and so many commands of each; 0: all. ``rest`` more entries were not
    made.
    """

    lines: tuple[Line, ...]
    most: int = 0
    rest: int = 0
    ordered: bool = False
    most_commands: int = 0


class Code(Struct, frozen=True):
    """Lines to copy; ``label`` names them on a page, the button there says ``kind``, by default the label."""

    label: str
    lines: tuple[str, ...]
    kind: str = ""


class Cell(Struct, frozen=True):
    """A cell of a table; a head or a label has no tone.

    On an HTML page ``links`` are other places, each with its text, ``figures`` the counts of its tone, ``shade`` (1 to
    3) says whether these are many, and ``why`` explains the cell to who points at it.
    """

    text: str
    tone: str = ""
    links: tuple[tuple[str, str], ...] = ()
    figures: tuple[str, ...] = ()
    shade: int = 0
    why: str = ""


class Table(Struct, frozen=True):
    """A table with a head; the first cell of a row is its label. ``more`` are labels of rows that it sums up.

    ``said``: text shows this sentence in its place. ``legend`` says how to read it. ``narrower`` are forms for narrow
    terminals, the widest first. ``last`` is a last column of an HTML page, with its head. ``most``: a comment shows so
    many rows.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: tuple[str, ...] = ()
    said: str = ""
    legend: str = ""
    narrower: tuple[Table, ...] = ()
    last: tuple[Cell, ...] = ()
    most: int = 200


class Notes(Struct, frozen=True):
    """Notes on what the run assumed: on an HTML page they are at its end. ``depth`` and ``fold`` as in a line."""

    texts: tuple[str, ...]
    depth: int = 0
    hang: int = 0
    fold: Fold = Fold.TERMINAL


class Section(Struct, frozen=True):
    """Blocks under a title. ``about`` says how to read them; ``anchor`` is its place on an HTML page.

    With a ``mark``, the title is a sentence about that: about a CRD or an object, or, with a ``tone``, about a verdict.
    On an HTML page ``name`` is its title, if that is another one, and ``short`` its name in the contents; ``role`` is
    its part in the report.
    """

    title: str
    blocks: tuple[Block, ...]
    about: str = ""
    mark: str = ""
    tone: str = ""
    anchor: str = ""
    name: str = ""
    short: str = ""
    role: str = "blocking"


class Brief(Struct, frozen=True):
    """What text says in its own way: an HTML page and a comment say it elsewhere."""

    blocks: tuple[Block, ...]


class Folded(Struct, frozen=True):
    """Many lines to unfold on an HTML page, which nothing else shows."""

    title: str
    lines: tuple[str, ...]


class Answers(Struct, frozen=True):
    """The answers of the page as a list, on an HTML page that has another sentence above all."""

    title: str
    anchor: str


class Head(Struct, frozen=True):
    """The first line on a finding in a text: severity and rule, the CRD, the contexts, the path, the id.

    Without an ``id``, text breaks it between its parts.
    """

    kind: str
    tone: str
    subject: str
    path: str
    where: str = ""
    id: str = ""


class Frame(Struct, frozen=True):
    """Lines of files: an HTML page has all excerpts, text the lines with these numbers of the one that is ``shown``."""

    excerpts: tuple[Excerpt, ...]
    shown: Excerpt | None = None
    numbers: tuple[int, ...] = ()


class Bars(Struct, frozen=True):
    """A picture for an HTML page: of each row its name, what is beside it, and its counts by tone."""

    title: str
    rows: tuple[tuple[str, str, Mapping[str, int]], ...]


Block: TypeAlias = (
    "Line | Listing | Code | Table | Notes | Section | Brief | Folded | Answers | Head | Frame | Bars | Entries"
)


def listing(title: str, lines: tuple[Line, ...], about: str = "", most: int = 0, anchor: str = "") -> tuple[Block, ...]:
    """A section with a list; nothing without entries."""
    return (Section(title, (Listing(lines, most),), about, anchor=anchor),) if lines else ()


class Facts(Struct, frozen=True):
    """Names, each with the texts below it."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]


class Said(Struct, frozen=True):
    """What an API server answers."""

    texts: tuple[str, ...]


class Example(Struct, frozen=True):
    """An example object, a JSON value."""

    label: str
    value: Any


class Entry(Struct, frozen=True):
    """One of many things to unfold and to filter: its name and tone, what is ``beside`` it, a sentence, its details.

    ``kind`` stands before the name. ``facets`` has its values for the facets of the page; it counts as ``size`` things
    there. A ``cause`` heads entries that follow each other. ``is_link``: the details are at the anchor, elsewhere on
    the page.

    ``title`` is HTML-free text that sums it up in a comment, ``subject`` what it is about, ``line`` all of it in a
    line. ``lines`` are its details as text, then come the other ``places`` of the same change, then ``after``.
    """

    name: str
    tone: str
    beside: tuple[str, ...]
    said: str
    blocks: tuple[Line | Table | Code | Facts | Said | Frame | Example, ...]
    anchor: str
    facets: Mapping[str, str | tuple[str, ...]]
    kind: str = ""
    size: int = 1
    cause: str = ""
    is_link: bool = False
    title: str = ""
    subject: str = ""
    line: str = ""
    lines: tuple[Head | Line, ...] = ()
    places: tuple[str, ...] = ()
    after: tuple[Line, ...] = ()


class Entries(Struct, frozen=True):
    """Entries, which ``make`` gives one at a time; text and comments show ``brief`` in their place, if there is any.

    ``count`` is the number of things that they stand for; ``left_out`` more do not fit on a page. ``tone``: entries of
    findings are so severe. ``folded`` ones are closed on an HTML page at first, and not listed elsewhere; of ``hidden``
    ones the filters show none that nobody asked for.
    """

    title: str
    count: int
    make: Callable[[], Iterator[Entry]]
    brief: tuple[Block, ...] = ()
    anchor: str = ""
    left_out: int = 0
    tone: str = ""
    folded: bool = False
    hidden: bool = False


class Facet(Struct, frozen=True):
    """One filter of entries: chips (few values, all shown, in this order) or a list to choose from."""

    key: str
    label: str
    order: tuple[str, ...] = ()

    @property
    def chips(self) -> bool:
        """Whether its values are few and known."""
        return bool(self.order)

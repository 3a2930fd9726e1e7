"""crdcompat demo: the 4.14 -> 4.13 story on the built-in fixtures; needs no network and no repository."""

from __future__ import annotations

from crdcompat.cli import options as o
from crdcompat.cli.choices import Colour


def demo(color: o.ColourOption = Colour.auto) -> None:
    """Show the tool at work, on small releases that are built in."""
    import sys

    from crdcompat.features.demo import demo as run
    from crdcompat.render.text.demo import demo_text
    from crdcompat.render.write import print_lines, style_for

    print_lines(demo_text(*run(), style_for(sys.stdout, color.value, 0)))

"""What a document is made of: sections of sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from analysis.tables.cells import Side, Table
from charting.frame import stamped
from charting.theme import Spec, both_modes

Draw = Callable[[Spec, int], str]
WIDTH = 560


@dataclass(frozen=True)
class Figure:
    """A chart with its caption, the badge that every figure of simulated or synthetic data wears, and its numbers.

    `drawing` is the picture in a file, `width` pixels wide; a page needs none and draws from the specification itself.
    """

    key: str
    spec: Spec
    caption: str
    badge: str
    table: Table
    width: int = WIDTH
    drawing: str = ""

    @property
    def element_id(self) -> str:
        """Id of the element that holds the specification on a page."""
        return f"chart-{self.key}"

    @property
    def specs(self) -> dict[str, Spec]:
        """The specification in light and dark, for the page's own drawing."""
        return both_modes(self.spec)

    def drawn(self, draw: Draw) -> Figure:
        """The same with its picture."""
        return replace(self, drawing=draw(self.spec, self.width))


@dataclass(frozen=True)
class Block:
    """One piece of a section: exactly one of its parts is set. A `says` has a rule at its side."""

    text: str = ""
    style: str = ""
    side: Side = ""
    heading: str = ""
    table: Table | None = None
    is_folded: bool = False
    figures: tuple[Figure, ...] = ()


@dataclass
class Section:
    """A section under its heading."""

    key: str
    title: str
    side: Side = ""
    blocks: list[Block] = field(default_factory=list)

    def say(self, text: str, style: str = "") -> None:
        """Add a sentence, if there is one."""
        if text:
            self.blocks.append(Block(text=text, style=style, side=self.side))

    def head(self, text: str) -> None:
        """Add a heading below the section's own."""
        self.blocks.append(Block(heading=text))

    def put(self, table: Table | None, *, is_folded: bool = False) -> None:
        """Add a table, if there is one with rows."""
        if table is not None and table.rows:
            self.blocks.append(Block(table=table, is_folded=is_folded))

    def draw(self, *figures: Figure | None) -> None:
        """Add figures that stand side by side where there is room, those of them that there are."""
        found = tuple(figure for figure in figures if figure is not None)
        if found:
            self.blocks.append(Block(figures=found))

    def drawn(self, draw: Draw) -> Section:
        """The same with the picture of every figure."""
        blocks = [
            replace(block, figures=tuple(figure.drawn(draw) for figure in block.figures)) if block.figures else block
            for block in self.blocks
        ]
        return replace(self, blocks=blocks)


@dataclass(frozen=True)
class FigureMaker:
    """Makes the figures of one side of a report: all wear its badge, and in a pilot its stamp in their titles."""

    badge: str
    stamp: str = ""

    def __call__(self, key: str, spec: Spec | None, caption: str, table: Table, width: int = WIDTH) -> Figure | None:
        """A figure, or None where there is nothing to draw."""
        if spec is None:
            return None
        return Figure(key, stamped(spec, self.stamp) if self.stamp else spec, caption, self.badge, table, width)

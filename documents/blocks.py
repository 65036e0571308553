"""The parts of a document: sections of sentences, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from charting.frame import stamped
from charting.theme import Spec, both_modes
from documents.tables import Side, Table


@dataclass(frozen=True)
class Figure:
    """A chart with its caption and its numbers.

    `drawing` is the picture in a file; a page has none and draws from the specification itself.
    """

    key: str
    spec: Spec
    caption: str = ""
    table: Table | None = None
    drawing: str = ""

    @property
    def element_id(self) -> str:
        """Id of the element that holds the specification on a page."""
        return f"chart-{self.key}"

    @property
    def file(self) -> str:
        """The file of the drawing beside a document."""
        return f"figures/{self.key}.svg"

    @property
    def alternative(self) -> str:
        """The text for readers who do not see the figure: its caption, or else its title."""
        title: str = self.spec["usermeta"]["title"]
        return self.caption or title

    @property
    def specs(self) -> dict[str, Spec]:
        """The specification in light and dark, for the page's own drawing."""
        return both_modes(self.spec)

    def with_drawing(self, draw: Callable[[Figure], str]) -> Figure:
        """The same with its picture."""
        return replace(self, drawing=draw(self))


@dataclass(frozen=True)
class Block:
    """One piece of a section: exactly one of its parts is set. The style ``says`` has a rule at its side."""

    text: str = ""
    style: str = ""
    side: Side = ""
    heading: str = ""
    points: tuple[str, ...] = ()
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

    def say(self, *sentences: str, style: str = "") -> None:
        """Add a paragraph for each sentence that there is."""
        self.blocks += [Block(text=text, style=style, side=self.side) for text in sentences if text]

    def head(self, text: str) -> None:
        """Add a heading below the section's own."""
        self.blocks.append(Block(heading=text))

    def enumerate(self, points: Iterable[str]) -> None:
        """Add a list of sentences, if there are any."""
        if sentences := tuple(points):
            self.blocks.append(Block(points=sentences))

    def put(self, table: Table | None, *, is_folded: bool = False) -> None:
        """Add a table, if there is one with rows."""
        if table is not None and table.rows:
            self.blocks.append(Block(table=table, is_folded=is_folded))

    def draw(self, *figures: Figure | None) -> None:
        """Add those figures that there are, side by side where there is room."""
        drawable = tuple(figure for figure in figures if figure is not None)
        if drawable:
            self.blocks.append(Block(figures=drawable))

    def with_drawings(self, draw: Callable[[Figure], str]) -> Section:
        """The same with the picture of every figure."""
        figures = [tuple(each.with_drawing(draw) for each in block.figures) for block in self.blocks]
        blocks = [replace(block, figures=own) for block, own in zip(self.blocks, figures, strict=True)]
        return replace(self, blocks=blocks)


@dataclass(frozen=True)
class FigureMaker:
    """Creates the figures of one side of a report; the mark of simulated or synthetic data is drawn in each."""

    mark: str

    def __call__(self, key: str, spec: Spec | None, caption: str, table: Table) -> Figure | None:
        """A figure, or None where there is nothing to draw."""
        if spec is None:
            return None
        return Figure(key, stamped(spec, self.mark) if self.mark else spec, caption, table)

"""The pages of a study in order, as its settings name them under ``flow``; `studies.instrument.flow` reads the way.

An entry is a page, or ``lists`` with the pages that each list has, and with how several lists are shown. All problems
are reported at once, with their paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.field_problems import FieldProblems, Path, Problem, problems_of

Kind = Literal["questions", "text", "elicit", "list", "item_questions", "choice", "compare", "end"]
QUESTIONS: Literal["questions"] = "questions"  # a block of the questionnaire
TEXT: Literal["text"] = "text"  # Markdown
ELICIT: Literal["elicit"] = "elicit"  # known items are rated or chosen
LIST: Literal["list"] = "list"  # the recommendations
ITEM_QUESTIONS: Literal["item_questions"] = "item_questions"  # a page for each recommendation
CHOICE: Literal["choice"] = "choice"  # one of the recommendations is picked, or none
COMPARE: Literal["compare"] = "compare"  # lists beside one another, with a block about which is preferred
END: Literal["end"] = "end"  # debriefing and exits
KINDS: tuple[str, ...] = get_args(Kind)
LISTS = "lists"
ABOUT, ITEMS, OVERALL, AFTER = "about", "items", "overall", "after"  # the blocks of 2011
# How people meet lists, and what later lists leave out.
ONE: Literal["one"] = "one"
IN_TURN: Literal["in_turn"] = "in_turn"
SIDE_BY_SIDE: Literal["side_by_side"] = "side_by_side"
SHOWN: Literal["shown"] = "shown"
NOTHING: Literal["nothing"] = "nothing"
CHOSEN, NONE = "chosen", "none"  # the question of a choice, and its answer where no item is picked
CHOICE_TEXT = {
    "en": "Which one would you {consume} now?",
    "de": "Was davon würden Sie jetzt {consume}?",
    "it": "Quale vorresti {consume} adesso?",
}
KEY = r"^[a-z][a-z0-9_]{0,39}$"
# Other addresses of a participant, and other pages in events and page times.
RESERVED_KEYS = frozenset(
    {
        "clips",
        "consent",
        "details",
        "events",
        "exit",
        "films",
        "message",
        "posters",
        "preparation",
        "trailer",
        "withdraw",
    }
)
# Other parts of a questionnaire, and other first words of export columns.
RESERVED_BLOCKS = frozenset(
    {"allocation", "attention", "evaluator", "event", "factor", "item", "list", "participant", "profile", "rating",
     "scale", "scales", "schema", "study"}
)  # fmt: skip


class Page(BaseModel):
    """One page; `title` and `text` are by language."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    key: Annotated[str, Field(pattern=KEY)]
    kind: Kind
    block: Annotated[str, Field(pattern=rf"{KEY}|^$")] = ""  # of the questionnaire
    assigns: bool = False  # whether leaving it assigns a condition
    title: dict[str, str] = {}  # of a page of questions, text, a choice or comparison; else it has the platform's
    text: dict[str, str] = {}  # Markdown, of a page of text

    @model_validator(mode="before")
    @classmethod
    def _has_block(cls, data: Any) -> Any:
        """A choice is the one question of a block that is named after its page; a comparison asks such a block."""
        is_named = isinstance(data, Mapping) and data.get("kind") in (CHOICE, COMPARE)
        return {"block": data.get("key", ""), **data} if is_named else data

    @property
    def part(self) -> str:
        """What the page is for: its block if it asks one about the person or the list, else its kind."""
        return self.block if self.kind == QUESTIONS else self.kind


class Lists(BaseModel):
    """How many lists a person gets, and how: one, one of each condition in turn, or pairs of lists side by side."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    shown: Literal["one", "in_turn", "side_by_side"] = ONE
    leave_out: Literal["shown", "nothing"] = NOTHING  # items of the person's earlier lists, or none
    pairs_each: Annotated[int, Field(ge=1)] | None = None  # that a person compares; None for all of them

    @model_validator(mode="before")
    @classmethod
    def _as_designed(cls, data: Any) -> Any:
        """Participants who meet lists in turn do not see an item twice, unless the design says so."""
        if isinstance(data, Mapping) and data.get("shown") == IN_TURN:
            return {"leave_out": SHOWN, **data}
        # Stored designs may say that two lists are side by side, as they always are.
        if isinstance(data, Mapping) and data.get("shown") == SIDE_BY_SIDE and data.get("at_once") == 2:
            return {name: value for name, value in data.items() if name != "at_once"}
        return data

    @property
    def is_several(self) -> bool:
        """Whether a person gets more than one list."""
        return self.shown != ONE


ONE_LIST = Lists()
FLOW_2011 = (
    Page(key="about", kind=QUESTIONS, block=ABOUT, assigns=True),
    Page(key="rate", kind=ELICIT),
    Page(key="recommendations", kind=LIST),
    Page(key="items", kind=ITEM_QUESTIONS, block=ITEMS),
    Page(key="overall", kind=QUESTIONS, block=OVERALL),
    Page(key="after", kind=QUESTIONS, block=AFTER),  # only in studies with such questions
    Page(key="thanks", kind=END),
)
LISTED_2011 = ("recommendations", "items", "overall")
_WHERE = {ELICIT: "before lists", LIST: "as the first of lists", ITEM_QUESTIONS: "in lists", END: "at the end"}
_ONCE = (*_WHERE, CHOICE, COMPARE)


@dataclass(frozen=True)
class FlowPages:
    """The pages of a flow in order; `listed` are the keys of those that each list has."""

    pages: tuple[Page, ...] = ()
    lists: Lists = ONE_LIST
    listed: tuple[str, ...] = LISTED_2011


def read_flow(data: Any) -> FlowPages:
    """Read a flow as it is written. Raises FieldProblems with everything that is wrong."""
    read = _Reading(data)
    if read.problems:
        raise FieldProblems(read.problems)
    listed = tuple(page.key for path, page in read.pages if LISTS in path)
    return FlowPages(tuple(page for _path, page in read.pages), read.lists, listed)


def written_flow(flow: FlowPages, lists: Lists) -> list[dict[str, Any]]:
    """Return the pages of a flow as settings have them, with lists shown so: what `read_flow` reads."""
    entries: list[dict[str, Any]] = []
    listed: list[dict[str, Any]] = []
    for page in flow.pages:
        if page.key == flow.listed[0]:
            entries.append({LISTS: {**lists.model_dump(exclude_unset=True), "pages": listed}})
        within = listed if page.key in flow.listed else entries
        within.append(page.model_dump(exclude_defaults=True))
    return entries


def block_problems(flow: Any, questionnaire: Mapping[str, Any], parts: Sequence[str]) -> list[Problem]:
    """What a flow and a questionnaire say otherwise of its blocks; `parts` are those that are no blocks.

    Pages that cannot be read are passed over: `read_flow` says what is wrong with them.
    """
    pages = _Reading(flow).pages
    problems = [
        Problem(
            ("flow", *path, "block"),
            f"The questionnaire has no questions in the block {page.block!r}. Add some, or remove the page.",
        )
        for path, page in pages
        if page.block and page.kind != CHOICE and not questionnaire.get(page.block)
    ]
    problems += [
        Problem(
            ("flow", *path, "key"),
            f"The questionnaire has a block {page.key!r}, and a choice is exported by that name. Choose another key.",
        )
        for path, page in pages
        if page.kind == CHOICE and questionnaire.get(page.key)
    ]
    shown = {page.block for _path, page in pages}
    return problems + [
        Problem(
            ("flow",),
            f"No page asks the block {name!r} of the questionnaire. Add a page of questions, or remove the block.",
        )
        for name in questionnaire
        if questionnaire[name] and name not in {*shown, *parts}
    ]


def text_problems(pages: Sequence[Page], languages: Sequence[str]) -> list[Problem]:
    """What pages of a flow lack in languages that a study is offered in."""
    return [
        Problem(("flow",), f"The page {page.key!r} has no {name} in {language!r}. Add it.")
        for page in pages
        for name in ("title", "text")
        for language in languages
        if (words := getattr(page, name)) and not words.get(language)
    ]


class _Reading:
    """The pages that can be read, with their paths, and all problems."""

    def __init__(self, data: Any) -> None:
        self.pages: list[tuple[Path, Page]] = []
        self.problems: list[Problem] = []
        self.n_lists = 0
        self.lists = ONE_LIST
        self._entries(data, ())
        self.problems += [*self._of_pages(), *self._of_blocks(), *self._of_places(), *self._of_lists()]
        self.problems.sort(key=lambda problem: problem.path[:1] or (len(self.pages),))

    def _entries(self, data: Any, path: Path) -> None:
        if not isinstance(data, list | tuple) or not data:
            self.problems.append(Problem(path, f"Expected a list of pages; got {data!r}."))
            return
        for number, entry in enumerate(data):
            here = (*path, number)
            if isinstance(entry, Mapping) and LISTS in entry and not path:
                self._lists(entry, here)
                continue
            try:
                self.pages.append((here, Page.model_validate(entry)))
            except ValidationError as error:
                self.problems += [Problem((*here, *each.path), each.message) for each in problems_of(error, entry)]

    def _lists(self, entry: Mapping[str, Any], path: Path) -> None:
        self.n_lists += 1
        if self.n_lists > 1:
            self.problems.append(Problem(path, "A flow has lists once. Move the pages into the first, or remove them."))
        inner = entry[LISTS]
        if set(entry) != {LISTS} or not isinstance(inner, Mapping) or "pages" not in inner:
            expected = "Expected pages, a list, and how lists are shown"
            self.problems.append(Problem((*path, LISTS), f"{expected}; got {dict(entry)!r}."))
            return
        options = {name: value for name, value in inner.items() if name != "pages"}
        try:
            self.lists = Lists.model_validate(options)
        except ValidationError as error:
            self.problems += [Problem((*path, LISTS, *each.path), each.message) for each in problems_of(error, options)]
        self._entries(inner["pages"], (*path, LISTS, "pages"))

    def _of_pages(self) -> Iterator[Problem]:
        keys: set[str] = set()
        for path, page in self.pages:
            if page.key in keys:
                yield Problem((*path, "key"), f"The key {page.key!r} is used twice. Give each page a key of its own.")
            keys.add(page.key)
            if page.key in RESERVED_KEYS:
                yield Problem((*path, "key"), f"{page.key!r} is another page of every study. Choose another key.")
            is_text = page.kind == TEXT
            for name, has in (("title", page.kind in (QUESTIONS, TEXT, CHOICE, COMPARE)), ("text", is_text)):
                words = getattr(page, name)
                if words and not has:
                    yield Problem((*path, name), f"A page of the kind {page.kind} has no {name}. Remove it.")
                elif is_text and not words:
                    yield Problem((*path, name), f"A page of text has a {name} by language, such as {{en: …}}. Add it.")

    def _of_blocks(self) -> Iterator[Problem]:
        blocks: set[str] = set()
        for path, page in self.pages:
            at: Path = (*path, "block")
            if page.block in blocks - {""}:
                yield Problem(at, f"The block {page.block!r} is asked on two pages. Remove one of them.")
            blocks.add(page.block)
            if page.kind == ITEM_QUESTIONS and page.block != ITEMS:
                yield Problem(at, f"A page of the kind item_questions asks the block items; got {page.block!r}.")
            elif page.kind == QUESTIONS and (not page.block or page.block == ITEMS or page.block in RESERVED_BLOCKS):
                yield Problem(at, f"Expected a block of questions about the person or the list; got {page.block!r}.")
            elif page.kind == CHOICE and page.block != page.key:
                yield Problem(at, "A page of the kind choice asks one question of its own. Remove the block.")
            elif page.kind == CHOICE and page.key in {*RESERVED_BLOCKS, ABOUT, ITEMS, OVERALL, AFTER}:
                yield Problem(
                    (*path, "key"), f"{page.key!r} is the name of other columns of exports. Choose another key."
                )
            elif page.kind == COMPARE and page.block in {*RESERVED_BLOCKS, ABOUT, ITEMS, OVERALL, AFTER}:
                yield Problem(at, f"Expected a block of questions about lists side by side; got {page.block!r}.")
            elif page.block and page.kind not in (QUESTIONS, ITEM_QUESTIONS, CHOICE, COMPARE):
                yield Problem(at, f"A page of the kind {page.kind} asks nothing. Remove the block.")
            if page.assigns != (page.kind == QUESTIONS and page.block == ABOUT):
                yield Problem(
                    (*path, "assigns"),
                    "The page of the block about assigns, and no other, since strata, quotas and screening read its "
                    "answers. Without that block, conditions are assigned at consent.",
                )

    def _of_places(self) -> Iterator[Problem]:
        at = {kind: number for number, (_path, page) in reversed([*enumerate(self.pages)]) for kind in [page.kind]}
        is_whole = not self.problems  # else what is missing may be a page that cannot be read
        for kind, where in _WHERE.items():
            if kind not in at and is_whole and kind != ITEM_QUESTIONS:  # a study may ask nothing about items
                yield Problem((), f"A flow has one page of the kind {kind}. Add it {where}.")
        n_pages = len(self.pages)
        for number, (path, page) in enumerate(self.pages):
            is_listed, what = LISTS in path, f"The page {page.key!r}"
            if page.kind in _ONCE and at[page.kind] < number:
                yield Problem(path, f"{what} is the second of the kind {page.kind}, and a flow has one. Remove it.")
            elif page.kind == ELICIT and (is_listed or number > at.get(LIST, n_pages)):
                yield Problem(path, f"{what} asks for what lists are computed from. Move it before lists.")
            elif page.kind in (LIST, ITEM_QUESTIONS, CHOICE, COMPARE) and not is_listed:
                yield Problem(path, f"{what} is about a list. Move it into lists.")
            elif page.kind in (ITEM_QUESTIONS, CHOICE, COMPARE) and number < at.get(LIST, -1):
                yield Problem(path, f"{what} asks about a list. Move it after the page of the kind list.")
            elif page.kind == END and (is_listed or number < n_pages - 1):
                yield Problem(path, f"{what} ends the study. Move it to the end, after lists.")
            elif page.assigns and number > at.get(ELICIT, n_pages):
                yield Problem(path, f"{what} assigns the condition that makes the list. Move it before the ratings.")
            elif page.block == OVERALL and number < at.get(LIST, -1):
                yield Problem(path, f"{what} asks about the whole list. Move it after the page of the kind list.")

    def _of_lists(self) -> Iterator[Problem]:
        at: Path = next(((path[0], LISTS) for path, _page in self.pages if LISTS in path), ())
        lists = self.lists
        if lists.shown != SIDE_BY_SIDE and "pairs_each" in lists.model_fields_set:
            yield Problem((*at, "pairs_each"), "Only lists that are shown side_by_side have pairs. Remove it.")
        if not lists.is_several and lists.leave_out == SHOWN:
            yield Problem((*at, "leave_out"), "A single list has no earlier one to leave out. Remove it.")
        is_side_by_side = lists.shown == SIDE_BY_SIDE
        if is_side_by_side and not self.problems and COMPARE not in [page.kind for _path, page in self.pages]:
            yield Problem(at, "Lists that are shown side_by_side are compared. Add a page of the kind compare.")
        for path, page in self.pages:
            if not is_side_by_side and page.kind == COMPARE:
                yield Problem(path, f"The page {page.key!r} compares lists. Show them side_by_side, or remove it.")
            elif is_side_by_side and (page.kind in (ITEM_QUESTIONS, CHOICE) or page.block == OVERALL):
                yield Problem(path, f"The page {page.key!r} is about one list, and several are shown. Remove it.")

"""Parses questions from plain data and collects every problem with its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import is_number, read_condition
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.problems import Notes, Path
from studies.instrument.questionnaires.questions import LONGEST_TEXT, OTHER, Choice, MatrixRow, Question

KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
VALUE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,59}")
# Names with a special meaning in pages and exports.
RESERVED_KEYS = frozenset({"continue", "csrfmiddlewaretoken", "order", "lang"})
RESERVED_ITEM_KEYS = frozenset(
    {
        "rank", "id", "title", "score", "is_filled", "branch", "fon", "son", "details_opened", "has_trailer",
        "trailer_opened", "rating_provenance", "scale",
    }
)  # fmt: skip
RESERVED_PARTS = frozenset({"missing", "order", "other", "passed"})
MOST_POINTS = 11
MOST_DECIMALS = 6

COMMON = frozenset(
    {
        "key", "kind", "text", "help", "required", "shown_if", "wordings", "admits", "may_decline", "random_group",
        "identifies",
    }
)  # fmt: skip


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class QuestionReader:
    """Parses one question; invalid values are recorded as problems and replaced by defaults.

    `path` is the path of the question; `notes` collects the problems.
    """

    def __init__(self, data: Mapping[str, Any], path: Path, notes: Notes) -> None:
        self.data = data
        self.path = path
        self.notes = notes
        self.key = str(data.get("key", ""))
        self.name = f"The question {self.key!r}" if self.key else "This question"

    def wrong(self, message: str, *within: str | int) -> None:
        self.notes.wrong((*self.path, *within), message)

    def read(self) -> Question | None:
        """Return the question, or None if its key, kind or text is unusable."""
        data = self.data
        for name in ("key", "kind", "text"):
            if not data.get(name):
                self.wrong(f"{self.name} has no {name}. Add one.")
        kind_name = data.get("kind")
        kind = KINDS.get(kind_name) if isinstance(kind_name, str) else None
        if kind_name and kind is None:
            self.wrong(f"{self.name} has the unknown kind {kind_name!r}; known are {', '.join(KINDS)}.", "kind")
        if not data.get("key") or not data.get("text") or kind is None:
            return None
        if not isinstance(data["key"], str) or not KEY.fullmatch(data["key"]):
            self.wrong(
                f"{data['key']!r} is not a valid key. A key starts with a lower-case letter and has at most "
                "40 lower-case letters, digits and underscores.",
                "key",
            )
        if self.key in RESERVED_KEYS:
            self.wrong(f"The key {self.key!r} is reserved. Choose another.", "key")
        allowed = ", ".join(sorted(kind.fields)) or "no fields of its own"
        for name in sorted(map(str, set(data) - COMMON - kind.fields)):
            self.wrong(f"A question of the kind {kind_name} has no field {name!r}; it has {allowed}.", name)
        return self._read(kind)

    def _read(self, kind: type[Question]) -> Question:
        data = self.data
        shown_if = data.get("shown_if")
        minimum, maximum = self._limits(kind)
        choices = self._choices(kind)
        points = 0 if choices or minimum is None or maximum is None else int(maximum - minimum) + 1
        admits = self._admits()
        question = kind(
            key=self.key,
            text=self._texts("text"),
            help=self._texts("help"),
            required=self._flag("required", True),
            minimum=minimum,
            maximum=maximum,
            choices=choices,
            max_length=self._length(kind.longest),
            admits=tuple(admits["values"]) if "values" in admits else None,
            admits_minimum=admits.get("minimum"),
            admits_maximum=admits.get("maximum"),
            shown_if=None if shown_if is None else read_condition(shown_if, (*self.path, "shown_if"), self.notes),
            ends={
                language: (ends[0], ends[1])
                for language, ends in self._lists("ends", 2, "a label for each of its two ends").items()
            },
            wordings=self._wordings(),
            labels={
                **kind.own_labels,
                **(self._lists("labels", points, f"a label for each of its {points} points") if points else {}),
            },
            other=self._texts("other"),
            decimals=self._whole("decimals", 0, 0, MOST_DECIMALS),
            unit=self._texts("unit"),
            **kind.own_fields(data, (minimum, maximum), self.wrong),
            rows=self._rows() if "rows" in kind.fields else (),
            random_order=self._flag("random_order", False),
            random_group=self._word("random_group"),
            may_decline=self._flag("may_decline", False),
            scale=self._word("scale"),
            is_reversed=self._flag("reversed", False),
            expects=data.get("expects"),
            is_identifying=self._flag("identifies", False),
        )
        self._check_expected(question)
        self._check_identifying(question)
        return question

    def _flag(self, name: str, default: bool) -> bool:
        value = self.data.get(name, default)
        if not isinstance(value, bool):
            self.wrong(f"{name} of {self.key!r} is true or false; got {value!r}.", name)
            return default
        return value

    def _word(self, name: str) -> str:
        value = self.data.get(name, "")
        if value and (not isinstance(value, str) or not KEY.fullmatch(value)):
            self.wrong(
                f"{value!r} is not a valid {name} of {self.key!r}. Use lower-case letters, digits and underscores, "
                "starting with a letter.",
                name,
            )
            return ""
        return value or ""

    def _whole(self, name: str, default: int, low: int, high: int) -> int:
        value = self.data.get(name, default)
        if not _is_whole(value) or not low <= value <= high:
            self.wrong(f"{name} of {self.key!r} is a whole number from {low} to {high}; got {value!r}.", name)
            return default
        return int(value)

    def _length(self, default: int) -> int:
        value = self.data.get("max_length", default)
        if not _is_whole(value) or not 0 < value <= LONGEST_TEXT:
            self.wrong(
                f"The longest text of the question {self.key!r} is 1 to {LONGEST_TEXT} characters.", "max_length"
            )
            return default
        return int(value)

    def _texts(self, name: str, within: Path = (), data: Any = None) -> dict[str, str]:
        """Return texts by language from the field `name`, or from `data` at the path `within`."""
        value = data if within else self.data.get(name)
        path = within or (name,)
        if value in (None, {}, ""):
            return {}
        if not isinstance(value, Mapping) or not all(
            isinstance(language, str) and isinstance(text, str) and text.strip() for language, text in value.items()
        ):
            self.wrong(
                f"The {name} of {self.key!r} is a text for each language, such as {{en: …, it: …}}; got {value!r}.",
                *path,
            )
            return {}
        return dict(value)

    def _lists(self, name: str, length: int, what: str) -> dict[str, tuple[str, ...]]:
        """Return `length` texts for each language."""
        value = self.data.get(name) or {}
        lists: dict[str, tuple[str, ...]] = {}
        if not isinstance(value, Mapping):
            self.wrong(f"The {name} of {self.key!r} are lists by language; got {value!r}.", name)
            return lists
        for language, words in value.items():
            is_list = isinstance(words, list | tuple) and all(isinstance(word, str) for word in words)
            if not is_list or len(words) != length:
                self.wrong(f"The {name} of {self.key!r} are {what}; got {words!r} for {language!r}.", name, language)
                continue
            lists[str(language)] = tuple(words)
        return lists

    def _wordings(self) -> dict[str, dict[str, str]]:
        value = self.data.get("wordings") or {}
        if not isinstance(value, Mapping):
            self.wrong(f"The wordings of {self.key!r} are texts by branch; got {value!r}.", "wordings")
            return {}
        return {str(branch): self._texts("wording", ("wordings", branch), texts) for branch, texts in value.items()}

    def _admits(self) -> Mapping[str, Any]:
        value = self.data.get("admits") or {}
        if not isinstance(value, Mapping) or set(value) - {"values", "minimum", "maximum"}:
            self.wrong(f"admits of {self.key!r} has values, or minimum and maximum; got {value!r}.", "admits")
            return {}
        if not isinstance(value.get("values", []), list | tuple):
            self.wrong(f"The values that {self.key!r} admits are a list.", "admits", "values")
            return {}
        return value

    def _limits(self, kind: type[Question]) -> tuple[Any, Any]:
        low, high = kind.own_limits or (self.data.get("minimum"), self.data.get("maximum"))
        is_on_points = kind.is_on_points_with(self.data.get("choices"))
        needs_both = is_on_points or kind.is_span
        is_real = kind.allows_decimals(self.data.get("decimals"))
        for name, value in (("minimum", low), ("maximum", high)):
            if value is None and needs_both:
                self.wrong(f"The question {self.key!r} has no {name}. Add its lowest and highest point.", name)
            elif value is not None and not (is_number(value) if is_real else _is_whole(value)):
                self.wrong(
                    f"The {name} of the question {self.key!r} is not a {'' if is_real else 'whole '}number.", name
                )
                return None, None
        if low is None or high is None:
            return (None, None) if needs_both else (low, high)
        if is_on_points and not 2 <= high - low + 1 <= MOST_POINTS:
            self.wrong(
                f"The question {self.key!r} needs 2 to {MOST_POINTS} points between its minimum and maximum.", "maximum"
            )
            return None, None
        if low > high or (needs_both and low == high):
            self.wrong(f"The minimum {low} of the question {self.key!r} is not below its maximum {high}.", "minimum")
            return None, None
        return low, high

    def _choices(self, kind: type[Question]) -> tuple[Choice, ...]:
        value = self.data.get("choices")
        if not value:
            if "choices" in kind.fields and not kind.is_on_points_with(()):
                self.wrong(f"The question {self.key!r} is a choice without options. Add choices.")
            return ()
        if not isinstance(value, list | tuple):
            self.wrong(f"The choices of {self.key!r} are a list of {{value, label}}; got {value!r}.", "choices")
            return ()
        choices: list[Choice] = []
        for number, entry in enumerate(value):
            path: Path = ("choices", number)
            if not isinstance(entry, Mapping) or "value" not in entry or not entry.get("label"):
                self.wrong(f"A choice of {self.key!r} has a value and a label; got {entry!r}.", *path)
                continue
            if unknown := set(entry) - {"value", "label", "exclusive"}:
                self.wrong(f"A choice has a value, a label and exclusive; got {', '.join(sorted(unknown))}.", *path)
            name = str(entry["value"])
            if isinstance(entry["value"], bool) or not VALUE.fullmatch(name):
                # YAML reads unquoted yes, no, on and off as booleans.
                self.wrong(
                    f"{entry['value']!r} is not a valid value for a choice of {self.key!r}. Use letters, digits, "
                    "hyphens and underscores; put yes, no, on and off in quotes.",
                    *path,
                    "value",
                )
            if name in {choice.value for choice in choices}:
                self.wrong(f"{self.key!r} offers {name!r} twice.", *path, "value")
            if (name == OTHER and self.data.get("other")) or (kind.takes_several and name in RESERVED_PARTS):
                self.wrong(f"The value {name!r} is reserved in {self.key!r}. Choose another.", *path)
            is_exclusive = entry.get("exclusive", False)
            if not isinstance(is_exclusive, bool) or (is_exclusive and not kind.takes_several):
                self.wrong("exclusive is true or false, of a choice in a multiple choice.", *path, "exclusive")
            choices.append(Choice(name, self._texts("label", (*path, "label"), entry["label"]), bool(is_exclusive)))
        if kind.takes_several:
            n = len(choices) + bool(self.data.get("other"))
            most = self.data.get("maximum")
            if isinstance(most, int) and not 1 <= most <= n:
                self.wrong(f"{self.key!r} offers {n} choices; at most 1 to {n} can be chosen.", "maximum")
            fewest = self.data.get("minimum")
            if isinstance(fewest, int) and not 0 <= fewest <= n:
                self.wrong(f"{self.key!r} offers {n} choices; at least {fewest} cannot be required.", "minimum")
        return tuple(choices)

    def _rows(self) -> tuple[MatrixRow, ...]:
        value = self.data.get("rows")
        if not isinstance(value, list | tuple) or not value:
            self.wrong(f"The matrix {self.key!r} has no rows. Add a list of {{key, text}}.", "rows")
            return ()
        rows: list[MatrixRow] = []
        for number, entry in enumerate(value):
            path: Path = ("rows", number)
            if not isinstance(entry, Mapping) or not entry.get("key") or not entry.get("text"):
                self.wrong(f"A row of {self.key!r} has a key and a text; got {entry!r}.", *path)
                continue
            if unknown := set(entry) - {"key", "text", "reversed"}:
                self.wrong(f"A row has a key, a text and reversed; got {', '.join(sorted(unknown))}.", *path)
            name = str(entry["key"])
            if not KEY.fullmatch(name) or name in RESERVED_PARTS:
                problem = f"{name!r} is not a valid key of a row."
                rule = "Use small letters, digits and underscores, a letter first;"
                self.wrong(f"{problem} {rule} {', '.join(sorted(RESERVED_PARTS))} are taken.", *path, "key")
            if name in {row.key for row in rows}:
                self.wrong(f"The matrix {self.key!r} has the row {name!r} twice.", *path, "key")
            rows.append(
                MatrixRow(name, self._texts("text", (*path, "text"), entry["text"]), bool(entry.get("reversed")))
            )
        return tuple(rows)

    def _check_identifying(self, question: Question) -> None:
        if question.is_identifying and question.is_check:
            self.wrong(f"The attention check {self.key!r} cannot identify a person: remove identifies.", "identifies")
        elif question.is_identifying and question.scale:
            self.wrong(
                f"The answer to {self.key!r} identifies a person, and the score of a scale would reveal it. Remove "
                "identifies or scale.",
                "identifies",
            )

    def _check_expected(self, question: Question) -> None:
        if not question.is_check:
            return
        if question.expects is None:
            self.wrong(f"The attention check {self.key!r} has no expected answer. Add expects.", "expects")
            return
        try:
            question.check(question.expects)
        except ParameterError as problem:
            self.wrong(f"The expected answer is not an option of the question. {problem}", "expects")

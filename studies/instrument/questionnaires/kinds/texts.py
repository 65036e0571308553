"""Questions that are answered by free text."""

from __future__ import annotations

from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.questions import Question, Said, gettext_noop

SHORT_TEXT = 200  # characters; longer texts get a field that grows, and count as long


class LongText(Question):
    """Paragraphs."""

    kind = "long_text"
    label = "Long text"
    template = "paragraph"
    fields = frozenset({"max_length"})
    seconds = 40.0
    longest = 2000
    is_in_words = True
    column_type = "text"

    def what_is_wrong(self, value: Any) -> Said:
        if len(str(value)) > self.max_length:
            return gettext_noop("Please use at most %(n)s characters."), {"n": self.max_length}
        return super().what_is_wrong(value)

    def checked(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ParameterError(f"The question {self.key!r} is answered by text, not by {value!r}.")
        return self._plain_text(value, self.max_length)


class Text(LongText):
    """A line, or a few."""

    kind = "text"
    label = "Short text"
    seconds = 15.0
    longest = 200

    def layout(self, *, is_about: bool) -> str:
        return "line" if self.max_length <= SHORT_TEXT else "paragraph"

    @property
    def seconds_needed(self) -> float:
        return self.seconds if self.max_length <= SHORT_TEXT else LongText.seconds

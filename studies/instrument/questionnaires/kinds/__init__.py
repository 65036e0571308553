"""The kinds of questions: one class each, registered here under its name in documents."""

from __future__ import annotations

from studies.instrument.questionnaires.kinds.choices import Attention, Matrix, Multiple, OneChoice, YesNo
from studies.instrument.questionnaires.kinds.numbers import Likert, Number, Slider
from studies.instrument.questionnaires.kinds.texts import LongText, Text
from studies.instrument.questionnaires.questions import Question

__all__ = ["KINDS", "Likert", "LongText", "Matrix", "Number", "OneChoice", "Slider", "Text", "YesNo"]

# In the order in which sentences name them
KINDS: dict[str, type[Question]] = {
    kind.kind: kind for kind in (YesNo, Number, OneChoice, Text, Likert, Multiple, LongText, Slider, Matrix, Attention)
}

"""A choice among described kinds, each a card with its explanation and fields: splits and protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from evaluation.forms.parameter_fields import ParameterForm, Values, entered
from recommenders.parameters import ParameterInfo


@dataclass(frozen=True)
class Kind:
    """What a card shows: its key in commands, title, explanation in a line, a note on it, and its parameters."""

    key: str
    title: str
    line: str
    note: str
    described: Sequence[ParameterInfo]
    check: Callable[[Values], object]


@dataclass(frozen=True)
class Card:
    """A kind with its form."""

    kind: Kind
    form: ParameterForm
    is_chosen: bool


class ChoiceCards:
    """Cards of which one is chosen; only the fields of the chosen one are checked."""

    def __init__(self, name: str, cards: Sequence[Card]) -> None:
        self.name, self.cards = name, list(cards)

    @classmethod
    def of(cls, name: str, kinds: Sequence[Kind], chosen: str, values: Mapping[str, Any]) -> ChoiceCards:
        """Return the cards with `chosen` chosen, and its values."""
        return cls(name, [_card(name, kind, chosen, values=values if kind.key == chosen else {}) for kind in kinds])

    @classmethod
    def posted(cls, name: str, kinds: Sequence[Kind], data: QueryDict, *, is_checked: bool) -> ChoiceCards:
        """Return the cards of a posted form; without checking them, to be shown again."""
        keys = [kind.key for kind in kinds]
        chosen = str(data.get(name) or "")
        chosen = chosen if chosen in keys else keys[0]
        return cls(name, [_card(name, kind, chosen, data=data, is_checked=is_checked) for kind in kinds])

    @property
    def chosen(self) -> Card:
        """The chosen card."""
        return next(card for card in self.cards if card.is_chosen)

    def settings(self) -> Values:
        """Return the chosen kind with its stated values, as `create_run` takes it."""
        return {"name": self.chosen.kind.key, **self.chosen.form.stated()}


def _card(
    name: str,
    kind: Kind,
    chosen: str,
    *,
    data: QueryDict | None = None,
    is_checked: bool = False,
    values: Mapping[str, Any] | None = None,
) -> Card:
    prefix, is_chosen = f"{name}-{kind.key}", kind.key == chosen
    is_bound = is_checked and is_chosen
    # The fields of a kind that the page did not show have their defaults.
    if data is not None and not is_bound and any(key.startswith(f"{prefix}-") for key in data):
        values = entered(ParameterForm(kind.described, prefix=prefix), data)
    form = ParameterForm(kind.described, data if is_bound else None, prefix=prefix, values=values, check=kind.check)
    return Card(kind, form, is_chosen)

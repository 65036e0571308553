"""The split and the protocol of a new run, as cards and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from core.errors import ParameterError
from evaluation.forms.choice_cards import ChoiceCards, Kind
from evaluation.forms.parameter_fields import ParameterForm, Values, entered
from evaluation.metrics.registry import METRICS
from evaluation.protocols.registry import PROTOCOLS, Definition
from evaluation.protocols.registry import protocol as protocol_of
from evaluation.splitting.options import DevEval
from evaluation.splitting.registry import SPLITS, SplitKind, split_spec

LIMITS = ("irrelevant", "relevant")  # of every protocol; the form asks for them once
WRAPPER = next(kind for kind in SPLITS.values() if kind.options is DevEval)


def _split_kind(kind: SplitKind) -> Kind:
    needs_times = " Ratings need times." if kind.needs_times(kind.options()) else ""
    many = " Trains several models per algorithm; no study can use them." if kind.trains_many else ""
    return Kind(
        key=kind.key,
        title=kind.title,
        line=f"Hidden: {kind.hides[:1].lower()}{kind.hides[1:]}",
        note=f"{kind.assumes}{many}{needs_times}",
        described=kind.options.described(),
        check=lambda values: split_spec(kind.key, values),
    )


def _protocol_kind(definition: Definition) -> Kind:
    return Kind(
        key=definition.key,
        title=definition.title,
        line=definition.question,
        note=f"Metrics: {', '.join(METRICS[key].title for key in definition.metrics)}.",
        described=[info for info in definition.described() if info.name not in LIMITS],
        check=definition.completed,
    )


SPLIT_KINDS = tuple(_split_kind(kind) for kind in SPLITS.values() if kind is not WRAPPER)
PROTOCOL_KINDS = tuple(map(_protocol_kind, PROTOCOLS.values()))


class DevelopmentForm(ParameterForm):
    """Whether the test users are divided into a development and an evaluation group, and how."""

    def __init__(self, data: QueryDict | None = None, *, values: Mapping[str, Any] | None = None) -> None:
        super().__init__(DevEval.described(), data, prefix=WRAPPER.key, values=values)
        tick = forms.BooleanField(
            label="Development and evaluation users",
            required=False,
            help_text=f"{WRAPPER.assumes} With splits that train one model per algorithm.",
        )
        self.fields = {"divide": tick, **self.fields}
        self.fields["development"].label = "Share of development users"

    @property
    def is_divided(self) -> bool:
        """Whether the box is ticked."""
        is_checked = self.is_bound and self.errors is not None
        return bool((self.cleaned_data if is_checked else self.initial).get("divide"))


class SplitChoice:
    """The chosen split, and whether dev-eval wraps it."""

    def __init__(self, cards: ChoiceCards, development: DevelopmentForm) -> None:
        self.cards, self.development = cards, development

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> SplitChoice:
        """Return the choice that settings state. Raises ParameterError for invalid ones."""
        stated = dict(settings)
        name = str(stated.pop("name"))
        spec = split_spec(name, stated)
        wrapped, own = spec.inner or spec, WRAPPER.options.described()
        names = {info.name for info in own} if spec.inner else set()
        values = {key: getattr(wrapped.options, key) for key in stated if key not in {"of", *names}}
        divided = {"divide": True, **{key: getattr(spec.options, key) for key in names}} if spec.inner else {}
        cards = ChoiceCards.of("split", SPLIT_KINDS, wrapped.kind.key, values)
        return cls(cards, DevelopmentForm(values=divided))

    @classmethod
    def posted(cls, data: QueryDict, *, is_checked: bool) -> SplitChoice:
        """Return the choice of a posted form; without checking it, to be shown again."""
        cards = ChoiceCards.posted("split", SPLIT_KINDS, data, is_checked=is_checked)
        values = None if is_checked else entered(DevelopmentForm(), data)
        return cls(cards, DevelopmentForm(data if is_checked else None, values=values))

    @property
    def forms(self) -> list[ParameterForm]:
        """The forms that are checked."""
        return [self.cards.chosen.form, self.development]

    def settings(self) -> Values:
        """Return the split with its stated values, as `create_run` takes it."""
        settings = self.cards.settings()
        if not self.development.is_divided:
            return settings
        return {**settings, "name": WRAPPER.key, "of": settings["name"], **self.development.stated()}

    def problem(self) -> str:
        """Return why the split cannot be used; empty if it can."""
        settings = self.settings()
        try:
            split_spec(str(settings.pop("name")), settings)
        except ParameterError as problem:
            return str(problem)
        return ""


def protocol_cards(settings: Mapping[str, Any]) -> ChoiceCards:
    """Return the cards with the protocol chosen that settings state, except for limits. Raises ParameterError for
    invalid ones.
    """
    stated = {key: value for key, value in settings.items() if key not in ("name", *LIMITS)}
    definition = protocol_of(str(settings["name"]))
    definition.completed(stated)
    return ChoiceCards.of("protocol", PROTOCOL_KINDS, definition.key, stated)

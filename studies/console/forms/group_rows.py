"""Strata and quotas of a draft as rows: one per group, band or limit. Empty rows are ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from core.form_fields import offer
from studies.allocation.assignment.wording import percentage, tests_as_text
from studies.instrument.questionnaires.conditions import as_text
from studies.settings import REST, StudySettings

YES_NO = {"yes": True, "no": False}
Row = dict[str, Any]


class GroupRow(forms.Form):
    """A group of participants: the answers to a question, or a band of numbers."""

    question = forms.ChoiceField(label="Question", required=False)
    name = forms.CharField(label="Name", required=False, max_length=120)
    answers = forms.CharField(label="Answers", required=False, max_length=500)
    low = forms.IntegerField(label="From", required=False, min_value=0, max_value=999_999)
    high = forms.IntegerField(label="To", required=False, min_value=0, max_value=999_999)

    def __init__(self, questions: Mapping[str, bool], *args: Any, **kwargs: Any) -> None:
        """`questions` says of each whether its answers are yes and no."""
        super().__init__(*args, **kwargs)
        self.questions = questions
        known = dict.fromkeys([*questions, *filter(None, [self.initial.get("question")])])
        offer(self, "question", [("", "–"), *((key, key) for key in known)])

    def values(self) -> Row:
        """The valid entries by name, without empty ones; {} for an empty row."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}

    def stored_answers(self) -> list[Any]:
        """The answers as they are stored."""
        words = [word.strip() for word in self.cleaned_data["answers"].split(",")]
        if not self.questions.get(self.cleaned_data["question"]):
            return list(filter(None, words))
        return [YES_NO.get(word.lower(), word) for word in words if word]

    def clean(self) -> Row:
        """Require a question, and either answers or both ends of a band."""
        cleaned = self.values()
        if cleaned and "question" not in cleaned:
            self.add_error("question", "Choose the question that this row is about.")
        if ("low" in cleaned) != ("high" in cleaned):
            missing = "high" if "low" in cleaned else "low"
            if missing not in self.errors:
                self.add_error(missing, "Give both ends of the band, or neither.")
        elif "low" in cleaned and cleaned["low"] > cleaned["high"]:
            self.add_error("high", "The end of the band is below its beginning.")
        if "low" in cleaned and "answers" in cleaned:
            self.add_error("answers", "Give answers or a band, not both.")
        return self.cleaned_data


class StratumRow(GroupRow):
    """A stratum with its expected share; a group without answers covers all other answers."""

    share = forms.FloatField(label="Expected share, %", required=False, min_value=0, max_value=999)

    def clean(self) -> Row:
        """Require a name or a band."""
        super().clean()
        if self.values() and not self.errors and not {"name", "answers", "low"} & self.values().keys():
            self.add_error("name", "Name the group, or give a band.")
        return self.cleaned_data


class QuotaRow(GroupRow):
    """A limit, or another condition of the limit above it."""

    field_order = ("most", "name", "question", "answers", "low", "high")
    most = forms.IntegerField(label="At most", required=False, min_value=0, max_value=9_999_999)

    def clean(self) -> Row:
        """Require answers or a band."""
        super().clean()
        if self.values() and not self.errors and not {"answers", "low"} & self.values().keys():
            self.add_error("answers", "Give the answers that count, or a band.")
        return self.cleaned_data


def rows_of_strata(design: StudySettings) -> list[Row]:
    """The stored strata as initial values of rows."""
    rows: list[Row] = []
    for rule in design.strata:
        own = design.expected_shares.get(rule.question, {})
        levels: list[tuple[str, Row]] = [
            (f"{low}-{high}", {"low": low, "high": high}) for low, high in rule.bands or ()
        ]
        if rule.groups is not None:
            levels = [
                (group.name, {"name": group.name, "answers": ", ".join(map(as_text, group.values))})
                for group in rule.groups
            ]
            levels.append((rule.rest, {"name": rule.rest}))
        rows += [
            {"question": rule.question, **row, **({"share": percentage(own[level])} if level in own else {})}
            for level, row in levels
        ]
    return rows


def strata_of(rows: Iterable[StratumRow]) -> tuple[list[Row], dict[str, dict[str, float]]]:
    """The rules and expected shares that valid rows state: the rows of a question are one rule.

    A row that does not go with those above it gets an error.
    """
    rules: dict[str, Row] = {}
    shares: dict[str, dict[str, float]] = {}
    last: dict[str, StratumRow] = {}
    for row in rows:
        own = row.values()
        if not own:
            continue
        question = own["question"]
        rule = rules.setdefault(question, {"question": question})
        last[question] = row
        if "low" in own:
            level = f"{own['low']}-{own['high']}"
            rule.setdefault("bands", []).append([own["low"], own["high"]])
        elif "answers" in own:
            level = own.get("name") or " or ".join(map(as_text, row.stored_answers()))
            rule.setdefault("groups", []).append({"name": level, "values": row.stored_answers()})
        elif "rest" in rule:
            row.add_error("answers", f"The group {rule['rest']} has all other answers. Give the answers of this one.")
            continue
        else:
            level = rule["rest"] = own["name"]
        if "share" in own:
            shares.setdefault(question, {})[level] = round(own["share"], 4)
    for question, rule in rules.items():
        if "groups" in rule and "bands" not in rule:
            rule.setdefault("rest", REST)
        elif "bands" not in rule or "groups" in rule or "rest" in rule:
            last[question].add_error(
                None, f"The rows of {question} need either bands, or at least one group with answers."
            )
    return list(rules.values()), shares


def rows_of_quotas(design: StudySettings) -> list[Row]:
    """The stored quotas as initial values of rows: a row with a limit, and one more for each further condition."""
    rows: list[Row] = []
    for quota in design.quotas:
        name = {} if quota.name == tests_as_text(quota.stored()) else {"name": quota.name}
        for position, test in enumerate(quota.where):
            limit = {"most": quota.most, **name} if position == 0 else {}
            answers = {"answers": ", ".join(map(as_text, test.values))} if test.values else {}
            band = dict(zip(("low", "high"), test.band or (), strict=False))
            rows.append({**limit, "question": test.question, **answers, **band})
    return rows


def quotas_of(rows: Iterable[QuotaRow]) -> list[Row]:
    """The quotas that valid rows state; a first row without a limit gets an error."""
    quotas: list[Row] = []
    for row in rows:
        own = row.values()
        if not own:
            continue
        answers = {"band": [own["low"], own["high"]]} if "low" in own else {"values": row.stored_answers()}
        test = {"question": own["question"], **answers}
        if "most" in own:
            quotas.append({"name": own.get("name", ""), "most": own["most"], "where": [test]})
        elif quotas:
            quotas[-1]["where"].append(test)
        else:
            row.add_error("most", "Give the limit of the first row.")
    return [{**quota, "name": quota["name"] or tests_as_text(quota)} for quota in quotas]

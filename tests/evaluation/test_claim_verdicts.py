"""Claims are judged by their tests; the outcome is printed whatever it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from documents.blocks import Figure, Section
from documents.html import page
from documents.markdown import document_markdown
from evaluation.experiments.claim_verdicts import Judgement, Numbers, judge_claims, shown
from evaluation.experiments.outcome import DatasetFacts, RunFacts, document, filled_table, summary
from evaluation.experiments.schema import Check, Claim, Experiment, Quantity
from evaluation.experiments.yaml_loader import parse
from inference.jackknife import JackknifeEstimate
from tests.evaluation.test_yaml_loader import SMALL

pytestmark = pytest.mark.unit

HERE, THERE = Quantity("main", "recall"), Quantity("main", "fallout")
NAMES = ("A", "B", "C")
Line = tuple[float | None, ...]


def numbers(here: Line, there: Line = (0.1, 0.2, 0.3)) -> Numbers:
    return {(place, name): v for place, line in ((HERE, here), (THERE, there)) for name, v in zip(NAMES, line)}  # noqa: B905 — lines may be short


@dataclass(frozen=True)
class Known:
    """Tests with one standard error for every value and difference, and sign tests that follow the values."""

    numbers: Numbers
    error: float | None = 0.001
    p: float | None = None  # of every sign test in the direction of the values
    is_reversed: bool = False  # most users fare the other way

    def value(self, place: Quantity, name: str) -> JackknifeEstimate | None:
        found = self.numbers[place, name]
        return None if found is None or self.error is None else JackknifeEstimate(found, self.error, 19)

    def difference(self, place: Quantity, first: str, second: str) -> JackknifeEstimate | None:
        a, b = self.numbers[place, first], self.numbers[place, second]
        return None if a is None or b is None or self.error is None else JackknifeEstimate(a - b, self.error, 19)

    def sign_p(self, place: Quantity, first: str, second: str) -> float | None:
        a, b = self.numbers[place, first], self.numbers[place, second]
        if self.p is None or a is None or b is None:
            return None
        return self.p if (a > b) != self.is_reversed else 1 - self.p


def verdict(check: Check, found: Numbers, **tests: Any) -> Judgement:
    experiment = with_claims(Claim("So it is.", "published", "Table 1", check))
    return judge_claims(experiment, found, Known(found, **tests))[0]


def with_claims(*claims: Claim) -> Experiment:
    experiment = parse(SMALL, "mine.yaml")
    return Experiment(**{**vars(experiment), "claims": claims})


HOLDS, FAILS, OPEN = "holds", "does not hold", "could not be decided"
ORDER = Check("order", (HERE,), NAMES)


@pytest.mark.parametrize(
    ("check", "here", "expected"),
    [
        (ORDER, (0.3, 0.2, 0.1), HOLDS),
        (ORDER, (0.3, 0.3, 0.1), OPEN),  # no difference is no evidence that there is none
        (ORDER, (0.2, 0.3, 0.1), FAILS),
        (Check("order", (HERE,), ("A", "B"), by=0.1), (0.35, 0.3, 0.0), FAILS),
        (Check("order", (HERE,), ("A", "B"), by=0.1), (0.401, 0.3, 0.0), OPEN),
        (ORDER, (0.3, None, 0.1), OPEN),
        (ORDER, (0.1, 0.2, None), FAILS),
        (Check("highest", (HERE,), NAMES), (0.3, 0.1, 0.2), HOLDS),
        (Check("highest", (HERE,), NAMES), (0.2, 0.1, 0.3), FAILS),
        (Check("lowest", (HERE,), NAMES), (0.1, 0.3, 0.2), HOLDS),
        (Check("lowest", (HERE,), NAMES), (0.2, 0.3, 0.1), FAILS),
        (Check("between", (HERE,), ("A",), low=0.2, high=0.4), (0.3, 0.0, 0.0), HOLDS),
        (Check("between", (HERE,), ("A",), low=0.3, high=0.4), (0.3, 0.0, 0.0), OPEN),
        (Check("between", (HERE,), NAMES, high=0.21), (0.1, 0.2, 0.3), FAILS),
        (Check("between", (HERE,), ("A",), low=0.1), (None, 0.0, 0.0), OPEN),
        (Check("near", (HERE,), NAMES, within=0.03), (0.30, 0.31, 0.32), HOLDS),
        (Check("near", (HERE,), NAMES, within=0.02), (0.30, 0.31, 0.32), OPEN),
        (Check("near", (HERE,), NAMES, within=0.01), (0.30, 0.31, 0.32), FAILS),
        (Check("near", (HERE,), NAMES, within=0.01), (0.30, 0.31, None), OPEN),
    ],
)
def test_verdict_on_one_place(check: Check, here: Line, expected: str) -> None:
    assert verdict(check, numbers(here)).verdict == expected


@pytest.mark.parametrize(
    ("kind", "here", "there", "expected"),
    [
        # Recall is better high, fallout low: A is best at both.
        ("another-best", (0.3, 0.2, 0.1), (0.1, 0.2, 0.3), FAILS),
        ("another-best", (0.3, 0.2, 0.1), (0.3, 0.2, 0.1), HOLDS),
        ("another-best", (0.3, 0.2, 0.1), (0.3, 0.2, 0.1999), HOLDS),
        ("another-best", (0.2001, 0.2, 0.1), (0.3, 0.1, 0.2), OPEN),
        ("another-best", (0.2001, 0.2, 0.1), (0.1, 0.2, 0.3), OPEN),
        ("another-best", (0.3, 0.2, None), (0.3, 0.2, 0.1), OPEN),
        ("another-order", (0.3, 0.2, 0.1), (0.1, 0.2, 0.3), FAILS),
        ("another-order", (0.3, 0.2, 0.1), (0.1, 0.3, 0.2), HOLDS),
        ("another-order", (0.3, 0.2, 0.1), (0.1, 0.2, 0.2), OPEN),
        ("another-order", (0.3, 0.2, 0.1999), (0.1, 0.3, 0.2), OPEN),
    ],
)
def test_verdict_on_two_places(kind: Any, here: Line, there: Line, expected: str) -> None:
    assert verdict(Check(kind, (HERE, THERE), NAMES), numbers(here, there)).verdict == expected


def test_larger_number_alone_decides_nothing() -> None:
    found = numbers((0.31, 0.3))
    pair = Check("order", (HERE,), ("A", "B"))
    assert verdict(pair, found, error=0.001).verdict == HOLDS
    assert verdict(pair, found, error=0.02).verdict == OPEN
    untested = verdict(pair, found, error=None)
    assert (untested.verdict, untested.findings[0].is_tested) == (OPEN, False)
    turned = Check("order", (HERE,), ("B", "A"))
    assert verdict(turned, found, error=0.001).verdict == FAILS
    assert verdict(turned, found, error=0.02).verdict == OPEN
    assert verdict(turned, found, error=None).verdict == OPEN


def test_sign_test_decides_with_the_interval() -> None:
    found, pair = numbers((0.4, 0.3)), Check("order", (HERE,), ("A", "B"))
    assert verdict(pair, found, p=0.01).verdict == HOLDS
    assert verdict(pair, found, p=0.2).verdict == OPEN
    assert verdict(pair, found, error=None, p=0.01).verdict == HOLDS
    # The mean is higher, and most users fare the other way.
    assert verdict(pair, found, p=0.01, is_reversed=True).verdict == OPEN
    turned = Check("order", (HERE,), ("B", "A"))
    assert verdict(turned, found, p=0.01).verdict == FAILS
    assert verdict(turned, found, p=0.2).verdict == OPEN


def test_findings_name_what_turned_round() -> None:
    found = verdict(Check("another-order", (HERE, THERE), NAMES), numbers((0.3, 0.2, 0.1), (0.1, 0.3, 0.2)))
    assert found.findings[0].description.endswith("B before C")
    assert (
        "no two"
        in verdict(Check("another-order", (HERE, THERE), NAMES), numbers((0.3, 0.2, 0.1))).findings[0].description
    )


def test_metrics_with_choices_have_a_direction_too() -> None:
    areas = (Quantity("main", "croc-area"), Quantity("main", "groc-area(until=.3,scale=raw)"))
    found = {(place, name): value for place in areas for name, value in zip(NAMES, (0.1, 0.2, 0.3), strict=True)}
    judgement = verdict(Check("another-best", areas, NAMES), found)
    assert all(one.description.startswith("best is C: C .300") for one in judgement.findings)


def test_a_claim_holds_at_every_place_or_not_at_all() -> None:
    found = verdict(Check("order", (HERE, THERE), ("A", "B")), numbers((0.3, 0.2)))
    assert [one.holds for one in found.findings] == [True, False]
    assert found.verdict == FAILS


@pytest.mark.parametrize(("value", "text"), [(-0.25, "-.250"), (-0.0001, ".000"), (10.5, "10.500"), (0.0, ".000")])
def test_numbers_are_shown_as_tables_print_them(value: float, text: str) -> None:
    assert shown(value) == text


def markdown(sections: list[Section]) -> str:
    return document_markdown("Two algorithms", sections)


def outcome(p: float | None, *, is_synthetic: bool = False) -> list[Section]:
    experiment = parse(SMALL, "mine.yaml")
    short = Quantity("main", "recall", 5)
    found = {(HERE, "Popular"): 0.3, (HERE, "Factors"): 0.4, (short, "Popular"): 0.3, (short, "Factors"): None}
    judgements = judge_claims(experiment, found, Known(found, p=p))
    facts = RunFacts(
        number=7,
        inputs_hash="a" * 64,
        n_relevant=1200,
        n_irrelevant=3,
        left_out={"reserved users": 0, "hidden ratings": 2},
        counted={"short cases": 0},
        comments=("Mind the task.", "Mind the task."),
        reasons={("Factors", "recall"): "not comparable"},
    )
    dataset = DatasetFacts("small", "Small <set>", "b" * 64, 60, 40, 900, is_synthetic)
    figures = [Figure("bars", {"usermeta": {"title": "Recall"}}, drawing="<svg></svg>")]
    return document(experiment, dataset, judgements=judgements, numbers=found, figures=figures, runs={"main": facts})


def test_outcome_tells_claims_tables_figures_and_how_it_was_run() -> None:
    text = markdown(outcome(0.0001))
    assert "# Two algorithms\n" in text
    assert "Of 1 claim, 1 holds, 0 do not hold and 0 could not be decided on these data." in text
    assert "### Holds: Factors finds more.\n\nNoted elsewhere (elsewhere)." in text
    assert (
        "recall: Factors .400, Popular .300; difference .100, 95% CI \\[.098, .102\\]; one-sided sign test over users, "
        "*p*\u00a0\\<\u00a0.001 (supports the claim)."
    ) in text
    assert "| Factors | .400 | – |" in text
    assert "![Recall](figures/bars.svg)" in text
    assert "| Popular | .300 |" in text
    assert "1,200 relevant and 3 irrelevant cases." in text
    assert "Left out: 2 hidden ratings." in text
    assert "Counted" not in text
    assert text.count("Mind the task.") == 1
    assert "Factors, recall: not comparable." in text
    assert "Factors is puresvd (factors 4)" in text
    assert "Popular is toppop" in text
    assert "*p*\u00a0=\u00a0.250 (undecided)" in markdown(outcome(0.25))
    assert "sign test over users" not in markdown(outcome(None))


def test_outcome_on_synthetic_ratings_says_so() -> None:
    text = markdown(outcome(0.01, is_synthetic=True))
    assert text.startswith("# Two algorithms\n\nSynthetic ratings: ")
    assert "is no evidence about people" in text
    assert "*Everything (synthetic ratings)*\n" in text
    assert "ynthetic" not in markdown(outcome(0.01))


def test_page_stands_alone_and_escapes() -> None:
    html = page("Two & two", "Two & two", outcome(None))
    assert "<title>Two &amp; two</title>" in html
    assert "Small &lt;set&gt;" in html
    assert '<figure class="chart" id="bars">\n<svg></svg>\n</figure>' in html
    assert '<th scope="row">Factors</th><td class="n">.400</td><td class="n">–</td>' in html
    assert "http" not in html.replace('lang="en"', "")


def test_summary_counts_what_could_not_be_decided() -> None:
    found = numbers((0.3, None))
    experiment = with_claims(*(Claim(name, "noted", "y", Check("order", (HERE,), ("A", "B"))) for name in "xy"))
    said = summary(judge_claims(experiment, found, Known(found)))
    assert said.startswith("Of 2 claims, 0 hold, 0 do not hold and 2 could not be decided on these data.")


def test_a_reading_of_a_claim_is_printed_and_an_inference_is_not_called_published() -> None:
    text = SMALL.replace("    by: noted\n", "    by: inferred\n    read_as: by any margin\n")
    experiment = parse(text, "mine.yaml")
    found = {(HERE, "Popular"): 0.3, (HERE, "Factors"): 0.4, (Quantity("main", "recall", 5), "Popular"): None}
    dataset = DatasetFacts("small", "Small", "b" * 64, 60, 40, 900, is_synthetic=False)
    facts = RunFacts(7, "a" * 64, 1, 1, {}, {}, (), {})
    said = markdown(
        document(
            experiment,
            dataset,
            judgements=judge_claims(experiment, found, Known(found)),
            numbers=found,
            figures=[],
            runs={"main": facts},
        )
    )
    assert "Inferred from the source, which does not state it (elsewhere). Read here as: by any margin" in said


def test_notes_may_have_words_and_figures_or_either() -> None:
    text = SMALL.replace("  - where: Elsewhere\n", "  - {where: There, says: It was so.}\n  - where: Elsewhere\n")
    experiment = parse(text, "mine.yaml")
    assert [bool(note.says) for note in experiment.notes] == [True, False]
    dataset = DatasetFacts("small", "Small", "b" * 64, 60, 40, 900, is_synthetic=False)
    rows = filled_table(experiment, experiment.tables[0], {}, dataset).rows
    assert [[cell.text for cell in row.cells] for row in rows] == [["Popular", "–", "–"], ["Factors", "–", "–"]]

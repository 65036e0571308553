"""Claims are held against numbers; whatever comes out is said."""

from __future__ import annotations

import pytest

from evaluation.experiments.document import Grid, Heading, Picture, Points, Text, markdown, page
from evaluation.experiments.judging import Judgement, Numbers, judged, shown
from evaluation.experiments.outcome import DatasetFacts, RunFacts, document, grid_of, summary
from evaluation.experiments.reading import parse
from evaluation.experiments.schema import Check, Claim, Experiment, Place
from tests.evaluation.test_experiments_reading import SMALL

pytestmark = pytest.mark.unit

HERE, THERE = Place("main", "recall"), Place("main", "fallout")
NAMES = ("A", "B", "C")


def numbers(here: tuple[float | None, ...], there: tuple[float | None, ...] = (0.1, 0.2, 0.3)) -> Numbers:
    return {(place, name): v for place, line in ((HERE, here), (THERE, there)) for name, v in zip(NAMES, line)}  # noqa: B905 — lines may be short


def verdict(check: Check, found: Numbers) -> Judgement:
    experiment = with_claims(Claim("So it is.", "published", "Table 1", check))
    return judged(experiment, found)[0]


def with_claims(*claims: Claim) -> Experiment:
    experiment = parse(SMALL, "mine.yaml")
    return Experiment(**{**vars(experiment), "claims": claims})


@pytest.mark.parametrize(
    ("check", "here", "expected"),
    [
        (Check("order", (HERE,), NAMES), (0.3, 0.2, 0.1), "came out"),
        (Check("order", (HERE,), NAMES), (0.3, 0.3, 0.1), "did not come out"),
        (Check("order", (HERE,), ("A", "B"), by=0.1), (0.35, 0.3, 0.0), "did not come out"),
        (Check("order", (HERE,), NAMES), (0.3, None, 0.1), "cannot be said"),
        (Check("order", (HERE,), NAMES), (0.1, 0.2, None), "did not come out"),
        (Check("between", (HERE,), ("A",), low=0.3, high=0.3), (0.3, 0.0, 0.0), "came out"),
        (Check("between", (HERE,), NAMES, high=0.2), (0.1, 0.2, 0.3), "did not come out"),
        (Check("between", (HERE,), ("A",), low=0.1), (None, 0.0, 0.0), "cannot be said"),
        (Check("near", (HERE,), NAMES, within=0.02), (0.30, 0.31, 0.32 - 1e-12), "came out"),
        (Check("near", (HERE,), NAMES, within=0.01), (0.30, 0.31, 0.32), "did not come out"),
        (Check("near", (HERE,), NAMES, within=0.01), (0.30, 0.31, None), "cannot be said"),
    ],
)
def test_verdict_on_one_place(check: Check, here: tuple[float | None, ...], expected: str) -> None:
    assert verdict(check, numbers(here)).verdict == expected


@pytest.mark.parametrize(
    ("kind", "here", "there", "expected"),
    [
        # Recall is better high, fallout low: A is best at both.
        ("another-best", (0.3, 0.2, 0.1), (0.1, 0.2, 0.3), "did not come out"),
        ("another-best", (0.3, 0.2, 0.1), (0.3, 0.2, 0.1), "came out"),
        ("another-best", (0.3, 0.2, None), (0.3, 0.2, 0.1), "cannot be said"),
        ("another-order", (0.3, 0.2, 0.1), (0.1, 0.2, 0.3), "did not come out"),
        ("another-order", (0.3, 0.2, 0.1), (0.1, 0.3, 0.2), "came out"),
        ("another-order", (0.3, 0.2, 0.1), (0.1, 0.2, 0.2), "did not come out"),
    ],
)
def test_verdict_on_two_places(kind, here, there, expected) -> None:
    assert verdict(Check(kind, (HERE, THERE), NAMES), numbers(here, there)).verdict == expected


def test_findings_name_what_turned_round() -> None:
    found = verdict(Check("another-order", (HERE, THERE), NAMES), numbers((0.3, 0.2, 0.1), (0.1, 0.3, 0.2)))
    assert found.findings[0].words.endswith("B before C")
    assert "no two" in verdict(Check("another-order", (HERE, THERE), NAMES), numbers((0.3, 0.2, 0.1))).findings[0].words


def test_metrics_with_choices_have_a_direction_too() -> None:
    areas = (Place("main", "croc-area"), Place("main", "groc-area(until=.3,scale=raw)"))
    found = {(place, name): value for place in areas for name, value in zip(NAMES, (0.1, 0.2, 0.3), strict=True)}
    experiment = with_claims(Claim("x", "noted", "y", Check("another-best", areas, NAMES)))
    assert judged(experiment, found)[0].findings[0].words.count("C .300") == 2


def test_a_claim_holds_at_every_place_or_not_at_all() -> None:
    found = verdict(Check("order", (HERE, THERE), ("A", "B")), numbers((0.3, 0.2)))
    assert [one.holds for one in found.findings] == [True, False]
    assert found.verdict == "did not come out"


def test_sign_tests_stand_beside_an_order_and_do_not_decide() -> None:
    asked = []

    def sign_p(place: Place, higher: str, lower: str) -> float | None:
        asked.append((place, higher, lower))
        return 0.9

    experiment = with_claims(Claim("x", "noted", "y", Check("order", (HERE,), ("A", "B"))))
    judgement = judged(experiment, numbers((0.3, 0.2)), sign_p)[0]
    assert (judgement.verdict, judgement.findings[0].p, asked) == ("came out", 0.9, [(HERE, "A", "B")])
    judged(experiment, numbers((0.3, None)), sign_p)
    assert len(asked) == 1


@pytest.mark.parametrize(("value", "text"), [(-0.25, "-.250"), (-0.0001, ".000"), (10.5, "10.500"), (0.0, ".000")])
def test_numbers_are_shown_as_tables_print_them(value: float, text: str) -> None:
    assert shown(value) == text


def outcome(p: float | None) -> list:
    experiment = parse(SMALL, "mine.yaml")
    short = Place("main", "recall", 5)
    found = {(HERE, "Popular"): 0.3, (HERE, "Factors"): 0.4, (short, "Popular"): 0.3, (short, "Factors"): None}
    judgements = judged(experiment, found, lambda *_: p)
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
    dataset = DatasetFacts("small", "Small <set>", "b" * 64, 60, 40, 900)
    pictures = [Picture("figures/bars.svg", "Recall", "<svg></svg>")]
    return document(experiment, dataset, judgements, found, pictures, {"main": facts})


def test_outcome_tells_claims_tables_figures_and_how_it_was_run() -> None:
    text = markdown(outcome(0.0001))
    assert "# Two algorithms\n" in text
    assert "Of 1 claims 1 came out on these data." in text
    assert "### Came out: Factors finds more.\n\nNoted elsewhere (elsewhere)." in text
    assert "recall: Factors .400, Popular .300 (as claimed; by user, one-sided sign test p < .001)." in text
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
    assert "sign test p = .250" in markdown(outcome(0.25))
    assert "sign test" not in markdown(outcome(None))


def test_page_stands_alone_and_escapes() -> None:
    html = page("Two & two", outcome(None))
    assert "<title>Two &amp; two</title>" in html
    assert "Small &lt;set&gt;" in html
    assert "<figure><svg></svg></figure>" in html
    assert '<th scope="row">Factors</th><td>.400</td><td>–</td>' in html
    assert "http" not in html.replace('lang="en"', "")


def test_summary_counts_what_cannot_be_said() -> None:
    experiment = with_claims(*(Claim(name, "noted", "y", Check("order", (HERE,), ("A", "B"))) for name in "xy"))
    said = summary(judged(experiment, numbers((0.3, None))))
    assert said.startswith("Of 2 claims 0 came out on these data. Of 2 it cannot be said")


def test_notes_may_have_words_and_figures_or_either() -> None:
    text = SMALL.replace("  - where: Elsewhere\n", "  - {where: There, says: It was so.}\n  - where: Elsewhere\n")
    experiment = parse(text, "mine.yaml")
    assert [bool(note.says) for note in experiment.notes] == [True, False]
    assert grid_of(experiment, experiment.tables[0], {}).rows == (("Popular", "–", "–"), ("Factors", "–", "–"))


def test_blocks_have_one_form_each() -> None:
    blocks = [Heading("H", 3), Text("T"), Points(("P",)), Grid("G", ("a", "b"), (("1", "2|3"),))]
    assert markdown(blocks) == "### H\n\nT\n\n- P\n\nG\n\n| a | b |\n| :--- | ---: |\n| 1 | 2\\|3 |\n"

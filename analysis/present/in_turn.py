"""Lists in turn: each participant met all conditions, and what compares them within participants."""

from __future__ import annotations

from analysis.present.words import decimal, f_test, interval_cell, limits, probability, whole
from analysis.results.in_turn import InTurnTests
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import capital, named_p, number, plural
from documents.tables import Numbers, Table, Words, table
from inference.ancova import FTest
from inference.paired import FriedmanResult
from inference.results import PairwiseResult, Undefined
from inference.sequences import RepeatedMeasures, WithinResult
from studies.plans import ALL_OCCASIONS

COMPLETED = "Mixed model, completed participants"
Test = FTest | RepeatedMeasures | FriedmanResult
ASSUMPTIONS = (
    "Values are those of conditions, positions and participants added up, with residuals of one variance; tastes for "
    "single algorithms are part of the residual.",
    "No algorithm's list affects the answers to the next more than another's does. First occasions alone do not need "
    "this.",
    "Occasions without a value are missing at random: whether they are missing may depend on the condition, the "
    "position and the participant's other values, not on the value that is missing.",
    "A list leaves out items of the participant's earlier lists where the design says so; it is then the best not yet "
    "shown.",
)


def in_turn_section(results: Results) -> Section:
    """The design, the mixed model of every measure, and the tests beside it; empty with independent conditions."""
    section = Section("in-turn", "Lists in turn", "perceived")
    if not results.is_in_turn or not results.flow.analysed:
        return section
    test = results.plan.primary_test
    section.say(
        f"Each of {plural(results.flow.analysed, 'participant')} met all {len(results.conditions)} algorithms in turn, "
        "in sequences of a Williams square. By design, each algorithm is equally often at each position, and equally "
        "often after each other; among the participants analysed this holds if each sequence has equally many of them. "
        "Means are those of a mixed model of condition and position with participants random, averaged "
        "over positions; pairs have simultaneous intervals by the studentized range. The primary test is the "
        f"{'average advantage' if test == 'advantage' else f'planned {test}'}; the tests here are exploratory."
    )
    section.say(left_sentence(results))
    tested = [(variable, variable.in_turn) for variable in results.variables if variable.in_turn is not None]
    for variable, of in sorted(tested, key=lambda each: each[0].key != results.plan.primary.perceived):
        if sentences := other_tests(variable, of):
            section.head(variable.name)
            section.say(" ".join(sentences))
    section.put(_means(tested))
    section.put(_differences(tested))
    section.head("Assumptions")
    section.enumerate(ASSUMPTIONS)
    return section


# Sentences


def left_sentence(results: Results) -> str:
    """How many participants who left before the end count, and with what."""
    n, n_occasions = results.flow.n_left, results.flow.n_left_occasions
    if ALL_OCCASIONS not in results.plan.tests.values():
        return "Participants who left before the end are not analysed."
    if not n:
        return "No participant who left before the end contributed an occasion."
    return (
        f"{plural(n, 'participant')} who left before the end contributed the {plural(n_occasions, 'occasion')} that "
        "they had finished. Exclusion rules that do not need a complete session apply to them too. Those who withdrew, "
        "returned their submission or failed attention checks are not analysed."
    )


def omnibus(variable: PerceivedVariable, tests: InTurnTests) -> str:
    """The mixed model's test of all conditions, or the reason why there is none."""
    name, model = variable.variable.in_text, tests.model
    if isinstance(model, Undefined):
        return f"The mixed model of {name} has no result. {model.reason}"
    opening = f"We found no significant difference in {name} between the algorithms"
    if model.test.p < variable.alpha:
        opening = f"{capital(name)} differed significantly between the algorithms"
    return f"{opening}, mixed model, {f_test(model.test)} (Satterthwaite)."


def other_tests(variable: PerceivedVariable, tests: InTurnTests) -> list[str]:
    """The tests beside the mixed model, the first occasions, carry-over, and missing occasions; none without it."""
    if isinstance(tests.model, Undefined):
        return []
    repeated, ranks, first = _in_words(tests.repeated), _in_words(tests.friedman), tests.first
    sentences = [
        f"Beside the mixed model: repeated measures (Greenhouse and Geisser) {repeated}; Friedman's test {ranks}.",
        f"Effect of the position: {f_test(tests.model.positions)}.",
    ]
    if isinstance(first, Undefined):
        sentences.append(f"First occasions alone could not be compared. {first.reason}")
    else:
        n = sum(pair.is_significant for pair in first.pairs)
        sentences.append(
            f"First occasions alone, between participants: Games-Howell found significant differences in "
            f"{n or 'none'} of {plural(len(first.pairs), 'pair')}."
        )
    if isinstance(tests.carry_over, Undefined):
        sentences.append(f"Carry-over could not be tested. {tests.carry_over.reason}")
    else:
        test = tests.carry_over.test
        effect = "The algorithm met just before made a significant difference"
        if test.p >= variable.alpha:
            effect = "We found no significant carry-over from the algorithm met just before, which does not exclude it"
        sentences.append(f"{effect}, {f_test(test)}.")
    if tests.completers is not None:
        model = "no result"
        if isinstance(tests.completers, WithinResult):
            model = f"{f_test(tests.completers.test)}, n = {tests.completers.n_participants:,}"
        sentences.append(
            f"{plural(tests.n_missing, 'occasion')} without a value, taken as missing at random. Completed "
            f"participants with every value alone: {model}."
        )
    return sentences


def _in_words(result: RepeatedMeasures | FriedmanResult | Undefined) -> str:
    if isinstance(result, Undefined):
        return f"has no result ({result.reason.removesuffix('.')})"
    p = result.p_corrected if isinstance(result, RepeatedMeasures) else result.p
    return f"{statistic(result)}, {named_p(p)}"


def statistic(result: RepeatedMeasures | FriedmanResult) -> str:
    """The statistic of a test beside the mixed model."""
    if isinstance(result, FriedmanResult):
        return f"χ²({result.df}) = {number(result.chi_squared)}"
    df, df_within = (number(result.epsilon * each) for each in (result.df, result.df_within))
    return f"F({df}, {df_within}) = {number(result.f)}, ε = {number(result.epsilon, is_share=True)}"


# Tables


def tests(of: InTurnTests) -> tuple[tuple[str, Test | Undefined], ...]:
    """The rows of the table of all tests, by name."""
    model, carried, alone = of.model, of.carry_over, of.completers
    return (
        ("Mixed model, conditions", model if isinstance(model, Undefined) else model.test),
        ("Mixed model, positions", model if isinstance(model, Undefined) else model.positions),
        *([(COMPLETED, alone if isinstance(alone, Undefined) else alone.test)] if alone is not None else ()),
        ("Repeated measures (Greenhouse and Geisser)", of.repeated),
        ("Friedman", of.friedman),
        ("Carry-over", carried if isinstance(carried, Undefined) else carried.test),
    )


Tested = list[tuple[PerceivedVariable, InTurnTests]]


def _means(tested: Tested) -> Table:
    return table(
        "in-turn-means",
        "Measures by algorithm, by the mixed model",
        [
            (variable, mean)
            for variable, tests in tested
            if isinstance(tests.model, WithinResult)
            for mean in tests.model.means
        ],
        Words("Algorithm", lambda line: line[1].condition),
        Numbers("n", lambda line: whole(line[1].n)),
        Numbers("M, observed", lambda line: decimal(line[1].mean, 2, line[0].variable.is_share)),
        Numbers("M", lambda line: decimal(line[1].adjusted, 2, line[0].variable.is_share), "perceived"),
        Numbers("SE", lambda line: decimal(line[1].se, 2, line[0].variable.is_share)),
        Numbers("95% CI of M", lambda line: limits(line[1].interval, 2, line[0].variable.is_share)),
        note="M: averaged over positions, each with the same weight.",
        group_name="Measure",
        group=lambda line: line[0].name,
    )


def _differences(tested: Tested) -> Table:
    """Every pair over first occasions, over completed participants, and with carry-over taken off."""
    lines = []
    for variable, tests in tested:
        carried, whole_ones = tests.carry_over, tests.completers
        sources: dict[str, PairwiseResult | Undefined | None] = {
            "all occasions": tests.pairs,
            "first occasions alone": tests.first,
            "carry-over taken off": carried if isinstance(carried, Undefined) else carried.adjusted,
            "completed participants alone": whole_ones.pairs if isinstance(whole_ones, WithinResult) else None,
        }
        for name, compared in sources.items():
            lines += [
                (variable, name, pair) for pair in (compared.pairs if isinstance(compared, PairwiseResult) else ())
            ]
    return table(
        "in-turn-pairs",
        "Pairs of algorithms by other occasions and participants",
        lines,
        Words("Over", lambda line: line[1]),
        Words("Algorithm", lambda line: line[2].a),
        Words("and", lambda line: line[2].b),
        Numbers("Difference", lambda line: decimal(line[2].difference, 2, line[0].variable.is_share), "perceived"),
        Numbers(
            "Simultaneous CI",
            lambda line: interval_cell(line[2].ci_low, line[2].ci_high, 2, line[0].variable.is_share),
        ),
        Numbers("p", lambda line: probability(line[2].p)),
        note="First occasions are of independent people (Games-Howell); the others are by the mixed model, without "
        "first occasions where carry-over is taken off.",
        group_name="Measure",
        group=lambda line: line[0].name,
        is_quiet=lambda line: not line[2].is_significant,
    )

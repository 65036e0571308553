"""Metrics by name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ParameterError
from evaluation.metrics.registry import METRICS, TASKS, Metric, definition, metric

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("recall@5", "recall@5"),
        (" fallout@05 ", "fallout@5"),
        ("precision-raghavan@5(g=0.80)", "precision-raghavan@5(g=.8)"),
        ("f@10( ties = worst , g = .01 )", "f@10(g=.01,ties=worst)"),
        ("f@5(g=1)", "f@5(g=1)"),
        ("f@5(g=0)", "f@5(g=0)"),
        ("recall@5(ties=expected)", "recall@5"),
        ("recall@5(ties=best)", "recall@5(ties=best)"),
    ],
)
def test_metric_has_one_canonical_name(written, canonical):
    assert str(metric(written)) == canonical
    assert metric(canonical) == metric(written)


@st.composite
def metrics(draw):
    """Any metric with any choices."""
    key = draw(st.sampled_from(sorted(METRICS)))
    known = definition(key)
    stated = {}
    for option in known.options:
        if not draw(st.booleans()):
            continue
        if option.is_by_rank:
            stated.pop(option.replaces, None)
            falling = st.lists(st.floats(1e-9, 1), min_size=1, max_size=9).map(lambda each: sorted(each, reverse=True))
            stated[option.name] = ":".join(f"{share:.20f}" for share in draw(falling))
            continue
        low, high = max(option.low, -1e6), min(option.high, 1e6)
        numbers = st.floats(low, high, exclude_min=option.is_open).map(lambda number: number + 0.0)
        whole = st.integers(2, 10**6)
        stated[option.name] = draw(
            st.sampled_from(option.words) if option.words else whole if isinstance(option.default, int) else numbers
        )
    return Metric(
        key,
        draw(st.integers(1, 1000)) if known.needs_n else None,
        tuple(stated.items()),
    )


@settings(deadline=None)
@given(metrics())
def test_metric_name_reads_back(one):
    assert metric(str(one)) == one


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recall", "as in 'recall@5'"),
        ("recall@5.5", "as in 'recall@5'"),
        ("recall@5(g=.8", "as in 'recall@5'"),
        ("accuracy@5", "Unknown metric 'accuracy'\\. Available: recall, fallout, precision-raghavan, f"),
        ("recall@0", "at least 1"),
        ("recall@5(g=.8)", "recall takes ties"),
        ("recall@5()", "is not valid"),
        ("f@5(g=)", "f takes g and ties"),
        ("f@5(g=.8,g=.9)", "each once"),
        ("f@5(g=many)", "must be a number"),
        ("f@5(g=1.5)", "between 0 and 1"),
        ("f@5(g=nan)", "between 0 and 1"),
        ("f@5(ties=none)", "not 'none'"),
        ("rmse@5", "takes no list length"),
        ("precision@5(g=.8)", "precision takes no choices"),
        ("ndcg@5(gain=double)", "'linear' or 'exponential', not 'double'"),
        ("half-life(alpha=1)", "must be above 1"),
        ("half-life(default=inf)", "a finite number"),
        ("half-life(viewed=1:most)", r"'most' is no probability by rank; write 1x3:\.5"),
        ("half-life(viewed=1:1.5)", "'1.5': probabilities must be above 0 and at most 1"),
        ("half-life(viewed=1:0)", "above 0"),
        ("half-life(viewed=1x0)", "at least one rank"),
        ("half-life(viewed=.5:.6)", r"'\.6': no rank can be viewed more often"),
        ("half-life(viewed=1x999:.5x2)", "more than 1,000 ranks"),
        ("half-life(alpha=5,viewed=1x5)", "states alpha and what takes its place"),
        ("kendall(least=2.5)", "whole number"),
        ("kendall(least=1)", "at least 2"),
        ("croc-area(until=0)", "above 0, at most 1"),
    ],
)
def test_metric_refuses_other_spellings(name, message):
    with pytest.raises(ParameterError, match=message):
        metric(name)


def test_metric_refuses_choices_it_has_not():
    with pytest.raises(ParameterError, match="recall has no choice of g"):
        Metric("recall", 5, (("g", 0.5),))
    with pytest.raises(ParameterError, match="not 'middling'"):
        Metric("recall", 5, (("ties", "middling"),))


def test_every_definition_is_whole():
    for key, known in METRICS.items():
        one = metric(f"{key}@5" if known.needs_n else key)
        assert known.key == key == one.definition.key
        assert known.low < known.high
        assert all(text.strip() for text in (known.title, known.formula, known.empty, known.why))
        assert known.group in ("list", "rating", "whole list", "curve", "beyond accuracy")
        assert set(known.tasks) <= set(TASKS)
        for option in known.options:
            assert option.description.endswith(".")
            if option.default is not None:
                assert option.check(option.default, key) == option.default


def test_names_print_every_choice_that_changes_a_value():
    assert str(metric("ndcg@10")) == "ndcg@10(gain=linear)"
    assert str(metric("map@10")) == "ap@10(over=relevant)"
    assert str(metric("mrr@5")) == "rr@5"
    assert str(metric("f1@10")) == "f-beta@10(beta=1,of=users)"
    assert str(metric("f-beta@10(of=means,beta=0.5)")) == "f-beta@10(beta=.5,of=means)"
    assert str(metric("croc-area(until=0.3,scale=standardised)")) == "croc-area(until=.3,scale=standardised)"
    assert str(metric("half-life(alpha=10)")) == "half-life(alpha=10,default=0)"
    assert str(metric("half-life(viewed=1.0:1:0.50:.00005)")) == "half-life(default=0,viewed=1x2:.5:.00005)"
    assert str(metric(str(metric("half-life(viewed=1x2:.5)")))) == "half-life(default=0,viewed=1x2:.5)"
    assert metric("kendall(least=5.0)").option("least") == 5


def test_options_a_metric_has_not_are_refused():
    with pytest.raises(ParameterError, match="ndcg has no choice of over"):
        Metric("ndcg", 5, (("over", "relevant"),))
    with pytest.raises(ParameterError, match="ndcg has no choice of over"):
        metric("ndcg@5").option("over")
    with pytest.raises(ParameterError, match="ndcg has no choice of ties"):
        Metric("ndcg", 5, (("ties", "worst"),))
    with pytest.raises(ParameterError, match=r"g of f is 2: it must be between 0 and 1"):
        Metric("f", 5, (("g", 2),))
    for wrong in ("many", None):
        with pytest.raises(ParameterError, match="must be a number"):
            Metric("half-life", options=(("alpha", wrong),))


def test_a_metric_says_which_task_it_suits_and_why():
    assert definition("recall").task_problem("some") is None
    comment = definition("rmse").task_problem("some")
    assert "does not suit the task “recommend some good items” but “predict ratings”" in comment
    assert "none of the tasks alone" in definition("gini").task_problem("all")


def test_choices_say_what_they_allow():
    said = {option.name: option.limits() for one in METRICS.values() for option in one.options}
    assert said["ties"] == "expected or worst or best"
    assert said["g"] == "between 0 and 1"
    assert said["until"] == "above 0, at most 1"
    assert said["alpha"] == "above 1"
    assert said["least"] == "at least 2"
    assert said["negative"] == "a finite number"

"""Metrics by name."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.registry import METRICS, TASKS, Metric, definition, metric
from tests.sentences import assert_refused_as_approved, assert_sentences_approved

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


WRONG = (
    "recall",
    "recall@5.5",
    "recall@5(g=.8",
    "accuracy@5",
    "recall@0",
    "recall@5(g=.8)",
    "recall@5()",
    "f@5(g=)",
    "f@5(g=.8,g=.9)",
    "f@5(g=many)",
    "f@5(g=1.5)",
    "f@5(g=nan)",
    "f@5(ties=none)",
    "rmse@5",
    "precision@5(g=.8)",
    "ndcg@5(gain=double)",
    "half-life(alpha=1)",
    "half-life(default=inf)",
    "half-life(viewed=1:most)",
    "half-life(viewed=1:1.5)",
    "half-life(viewed=1:0)",
    "half-life(viewed=1x0)",
    "half-life(viewed=.5:.6)",
    "half-life(viewed=1x999:.5x2)",
    "half-life(alpha=5,viewed=1x5)",
    "kendall(least=2.5)",
    "kendall(least=1)",
    "croc-area(until=0)",
)
CHOICES = (
    ("recall", 5, (("g", 0.5),)),
    ("recall", 5, (("ties", "middling"),)),
    ("ndcg", 5, (("over", "relevant"),)),
    ("ndcg", 5, (("ties", "worst"),)),
    ("f", 5, (("g", 2),)),
    ("half-life", None, (("alpha", "many"),)),
    ("half-life", None, (("alpha", None),)),
)


def test_metrics_that_are_refused():
    cases = {name: partial(metric, name) for name in WRONG}
    cases |= {f"{of}": partial(Metric, *of) for of in CHOICES}
    cases |= {"over of ndcg": partial(metric("ndcg@5").option, "over")}
    assert_refused_as_approved("metrics", cases)


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


def test_a_metric_says_which_task_it_suits_and_what_its_choices_allow():
    assert definition("recall").task_problem("some") is None
    tasks = {
        f"{key} for {task}": [definition(key).task_problem(task)] for key, task in (("rmse", "some"), ("gini", "all"))
    }
    limits = {option.name: [option.limits()] for one in METRICS.values() for option in one.options}
    assert_sentences_approved("sentences/metric-choices", tasks | limits)

"""Questionnaires as YAML: what goes out comes back, and what is wrong is said with its line."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from studies.design.presets.loader import block_keys, load_block, load_preset
from studies.instrument.questionnaires.document import DocumentProblems, read_document, write_document
from studies.instrument.questionnaires.orders import order_of_questions, order_within, shuffled
from studies.instrument.questionnaires.reading import COMMON
from studies.instrument.questionnaires.schema import KINDS, lacking_wordings, questionnaire_from
from studies.instrument.scales import scales_of
from tests.approval import assert_approved
from tests.factories.questionnaires import every_kind
from tests.factories.studies import make_study

ROOT = Path(__file__).resolve().parents[2]
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(
    str.strip
)
TEXTS = st.fixed_dictionaries({"en": WORDS}, optional={"it": WORDS})


def questions(key: str) -> st.SearchStrategy[dict[str, Any]]:
    common = {"key": st.just(key), "text": TEXTS}
    optional = {"required": st.booleans(), "help": TEXTS, "may_decline": st.booleans()}
    span = {"minimum": st.integers(0, 1), "maximum": st.integers(2, 9)}
    ends = st.fixed_dictionaries({"en": st.tuples(WORDS, WORDS).map(list)})
    choices = st.lists(TEXTS, min_size=1, max_size=4).map(
        lambda found: [{"value": f"v{number}", "label": label} for number, label in enumerate(found)]
    )
    rows = st.lists(TEXTS, min_size=1, max_size=4).map(
        lambda found: [{"key": f"r{number}", "text": text} for number, text in enumerate(found)]
    )
    of_kind: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("yes_no", {}, {}),
        ("number", {}, {**span, "decimals": st.integers(0, 3), "unit": TEXTS}),
        ("choice", {"choices": choices}, {"other": TEXTS, "random_order": st.booleans()}),
        ("multiple", {"choices": choices}, {"random_order": st.booleans()}),
        ("text", {}, {"max_length": st.integers(1, 5000)}),
        ("long_text", {}, {}),
        ("likert", span, {"ends": ends}),
        ("slider", span, {"ends": ends, "unit": TEXTS}),
        ("matrix", {**span, "rows": rows}, {"random_order": st.booleans()}),
        ("preference", {}, {"labels": st.fixed_dictionaries({"en": st.lists(WORDS, min_size=5, max_size=5)})}),
        ("attention", {**span, "expects": st.just(2)}, {}),
    ]
    return st.one_of(
        st.fixed_dictionaries({**common, "kind": st.just(kind), **needed}, optional={**optional, **may})
        for kind, needed, may in of_kind
    )


@st.composite
def questionnaires(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for block in draw(st.lists(st.sampled_from(["about", "items", "overall", "after"]), unique=True)):
        n = draw(st.integers(0, 4))
        found[block] = [draw(questions(f"{block}_{number}")) for number in range(n)]
    return found


@pytest.mark.slow
@pytest.mark.unit
@given(questionnaires())
def test_what_is_written_reads_back_the_same(questionnaire: dict[str, Any]) -> None:
    text = write_document(questionnaire)
    again = read_document(text)
    order = [name for name in ("about", "items", "overall", "after") if name in questionnaire]
    assert again == {name: questionnaire[name] for name in order}
    assert write_document(again) == text
    assert questionnaire_from(again) == questionnaire_from(questionnaire)


@pytest.mark.unit
def test_every_kind_and_the_shipped_ones_read_back_the_same() -> None:
    for questionnaire in (every_kind(ends_after=2), load_preset("cremonesi-2011").questionnaire):
        assert read_document(write_document(questionnaire)) == questionnaire
    of_comparisons = {"preference"}  # asked on no other page
    assert {question["kind"] for question in every_kind()["after"]} == set(KINDS) - of_comparisons


@pytest.mark.unit
@pytest.mark.parametrize("key", block_keys())
def test_shipped_blocks_speak_both_languages_and_score_their_scales(key: str) -> None:
    found = questionnaire_from(load_block(key).questionnaire)
    assert lacking_wordings(found, ["en", "it"]) == []
    scales = scales_of(found)
    assert [scale.key for scale in scales] == [scale.key for scale in found.scales]
    n_scales = {"resque-long": 13, "resque-short": 4, "sus": 1, "ueq-s": 2, "nasa-tlx-raw": 1}
    assert len(scales) == n_scales[key]
    n_statements = sum(len(scale.members) for scale in scales)
    n_items = {"resque-long": 39, "resque-short": 15, "sus": 10, "ueq-s": 8, "nasa-tlx-raw": 6}
    assert n_statements == load_block(key).n_items == n_items[key]


BROKEN = """schema: 1
overall:
- key: comment
  kind: text
  text: {en: More}
  max_length: 99999
- key: comment
  kind: likert
  text: {en: How much}
  minimum: 1
  maximum: 40
  colour: red
"""


@pytest.mark.unit
def test_every_problem_is_said_with_its_line_and_place() -> None:
    with pytest.raises(DocumentProblems) as found:
        read_document(BROKEN)
    lines = [(one.line, one.problem.location) for one in found.value.located]
    assert lines == [
        (6, "overall[0].max_length"), (7, "overall[1].key"), (11, "overall[1].maximum"), (12, "overall[1].colour"),
    ]  # fmt: skip
    assert_approved("refusals/questionnaire-document", f"{found.value}\n")


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "empty"),
        ("about: []", 1, "no schema"),
        ("schema: 2\nabout: []", 1, "the schema 2"),
        ("schema: 1\nabout: [\n", 3, "not valid YAML"),
        ("schema: 1\nabout: []\nabout: []", 3, "occurs twice"),
        ("schema: 1\na: &x [1]\nb: *x", 3, "Aliases"),
        ("- 1", 1, "none of them"),
        ("schema: 1\nbefore: []", 2, "has the parts"),
        ("schema: 1\nabout:\n- {key: a, kind: text, text: {en: A}, admits: {minimum: 2020-01-01}}", 1, "Quote dates"),
        ("x" * 1_000_001, 1, "at most"),
    ],
)
def test_what_is_no_questionnaire_is_refused_in_words(text: str, line: int, said: str) -> None:
    with pytest.raises(DocumentProblems, match=said) as found:
        read_document(text)
    assert found.value.located[0].line == line


@pytest.mark.unit
def test_orders_are_the_same_for_the_same_seed_and_keep_the_exclusive_choice_last() -> None:
    found = questionnaire_from(every_kind())
    seeds = range(60)
    orders = {order_of_questions(found.block("after"), seed) for seed in seeds}
    assert len(orders) == 2
    plain = [question.key for question in found.block("after")]
    assert all(sorted(order) == sorted(plain) and order[0] == "streams" for order in orders)
    devices = next(q for q in found.block("after") if q.key == "devices")
    assert order_within(devices, 1) == ("phone", "cinema", "tv", "nowhere")
    rows = {order_within(next(q for q in found.block("after") if q.key == "views"), seed) for seed in seeds}
    assert rows == {("again", "never"), ("never", "again")}
    assert shuffled("abcdef", 1, "x") == shuffled("abcdef", 1, "x") != shuffled("abcdef", 2, "x")


@pytest.mark.unit
def test_the_reference_names_every_kind_and_field() -> None:
    told = (ROOT / "docs" / "reference" / "questionnaires.md").read_text(encoding="utf-8")
    fields = COMMON.union(*(kind.fields for kind in KINDS.values()))
    assert {name for name in (*KINDS, *fields) if f"`{name}`" not in told} == set()


@pytest.mark.integration
@pytest.mark.django_db
def test_the_command_checks_exports_and_imports(tmp_path: Path) -> None:
    study = make_study(status="draft")
    file, out = tmp_path / "asked.yaml", StringIO()
    call_command("questionnaire", "export", study.slug, "--out", str(file), stdout=out)
    changed = yaml.safe_load(file.read_text())
    changed["overall"][1]["max_length"] = 10
    file.write_text(yaml.safe_dump(changed, allow_unicode=True))
    call_command("questionnaire", "check", str(file), stdout=out)
    assert "14 questions and 0 scales" in out.getvalue()
    call_command("questionnaire", "import", study.slug, str(file), stdout=out)
    study.refresh_from_db()
    assert study.questionnaire["overall"][1]["max_length"] == 10
    file.write_text(BROKEN)
    for act in (["check", str(file)], ["import", study.slug, str(file)]):
        with pytest.raises(CommandError, match="line 12"):
            call_command("questionnaire", *act)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("questionnaire", "check", str(tmp_path / "none"))
    with pytest.raises(CommandError, match="none"):
        call_command("questionnaire", "export", "none")

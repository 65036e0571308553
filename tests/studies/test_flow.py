"""The way through a study: the order of its pages, what may be opened and changed, and flows that are refused."""

from __future__ import annotations

import copy
import doctest
from dataclasses import replace
from typing import Any

import pytest

from core.errors import ParameterError
from core.field_problems import FieldProblems
from studies.flow_pages import FLOW_2011, Lists, block_problems, read_flow, text_problems, written_flow
from studies.instrument import flow, measures
from studies.instrument.flow import Flow, Place
from studies.instrument.questionnaires import schema
from studies.settings import read_settings, settings_problems
from tests.sentences import assert_sentences_approved

pytestmark = pytest.mark.unit
DEFAULT = Flow(FLOW_2011)
WITHOUT_AFTER = Flow(tuple(page for page in FLOW_2011 if page.key != "after"))
WAY = WITHOUT_AFTER.places((3,))
STORED: list[dict[str, Any]] = [
    {"key": "about", "kind": "questions", "block": "about", "assigns": True},
    {"key": "rate", "kind": "elicit"},
    {
        "lists": {
            "pages": [
                {"key": "recommendations", "kind": "list"},
                {"key": "items", "kind": "item_questions", "block": "items"},
                {"key": "overall", "kind": "questions", "block": "overall"},
            ]
        }
    },
    {"key": "after", "kind": "questions", "block": "after"},
    {"key": "thanks", "kind": "end"},
]


def changed(edit: str) -> list[Any]:
    """The stored flow of 2011 after a statement about `f`, the list, and `pages`, those of its lists."""
    stored = copy.deepcopy(STORED)
    exec(edit, {"f": stored, "pages": stored[2]["lists"]["pages"]})  # noqa: S102 -- the edits stand in this file
    return stored


@pytest.mark.parametrize("module", [flow, measures, schema])
def test_examples_in_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_the_pages_follow_one_another_and_the_last_one_stays() -> None:
    here = Place("about")
    walked = [here]
    for _ in range(len(DEFAULT.places((3,)))):
        here = DEFAULT.neighbour(here, 1, (3,))
        walked.append(here)
    assert walked == [*DEFAULT.places((3,)), Place("thanks")]
    assert DEFAULT.neighbour(Place("items", 1), -1, (3,)) == Place("recommendations")
    assert DEFAULT.neighbour(Place("about"), -1, (3,)) == Place("about")


@pytest.mark.parametrize("place", [Place("items", 4), Place("items"), Place("rate", 1), Place("rate", 0, 2)])
def test_a_place_that_a_list_of_this_length_does_not_have_is_refused(place: Place) -> None:
    with pytest.raises(ParameterError, match="There is no page"):
        DEFAULT.neighbour(place, 1, (3,))


def test_an_unknown_page_and_an_empty_list_are_refused() -> None:
    with pytest.raises(ParameterError, match="There is no page 'nowhere'; the pages are about, rate"):
        DEFAULT.page("nowhere")
    with pytest.raises(ParameterError, match="at least one item"):
        DEFAULT.places((0,))


@pytest.mark.parametrize("here", WAY, ids=str)
@pytest.mark.parametrize("at", WAY, ids=str)
def test_nothing_ahead_may_be_looked_at_or_changed(here: Place, at: Place) -> None:
    if WAY.index(at) > WAY.index(here):
        assert not WITHOUT_AFTER.may_look(here, at)
        assert not WITHOUT_AFTER.may_change(here, at)


@pytest.mark.parametrize("here", WAY, ids=str)
def test_where_one_stands_may_be_looked_at_and_changed_until_the_end(here: Place) -> None:
    assert WITHOUT_AFTER.may_look(here, here)
    assert WITHOUT_AFTER.may_change(here, here) == (here.page != "thanks")


@pytest.mark.parametrize("here", WAY[2:], ids=str)
def test_answers_about_the_person_and_ratings_close_with_their_step(here: Place) -> None:
    for step in ("about", "rate"):
        assert not WITHOUT_AFTER.may_look(here, Place(step))
        assert not WITHOUT_AFTER.may_change(here, Place(step))


def test_items_stay_changeable_until_completed() -> None:
    assert DEFAULT.may_change(Place("overall"), Place("items", 1))
    assert all(DEFAULT.may_change(Place("after"), at) for at in (Place("items", 2), Place("overall"), Place("after")))
    assert DEFAULT.may_look(Place("items", 2), Place("recommendations"))
    assert not DEFAULT.may_look(Place("thanks"), Place("items", 1))


def test_the_flow_of_2011_reads_as_the_default_one() -> None:
    assert read_flow(STORED).pages == FLOW_2011
    assert read_settings({"flow": STORED}).flow == read_flow(STORED)
    assert read_settings({}).flow.pages == ()


def test_pages_before_the_ratings_close_once_they_are_left() -> None:
    way = Flow(read_flow(changed("f.insert(1, {'key': 'taste', 'kind': 'questions', 'block': 'taste'})")).pages)
    assert way.blocks == ("about", "taste", "items", "overall", "after")
    assert way.may_change(Place("taste"), Place("taste"))
    assert not way.may_look(Place("taste"), Place("about"))
    assert not way.may_look(Place("rate"), Place("taste"))


def test_conditions_may_use_answers_of_pages_that_are_always_before() -> None:
    blocks = ("about", "taste", "items", "overall")
    asked: dict[str, Any] = {
        "taste": [{"key": "fan", "kind": "yes_no", "text": {"en": "A fan?"}}],
        "overall": [
            {"key": "why", "kind": "text", "text": {"en": "Why?"}, "shown_if": {"question": "fan", "equals": True}}
        ],
    }
    questionnaire = schema.questionnaire_from(asked, blocks)
    assert questionnaire.known_in("overall") == ("about", "taste", "overall")
    assert [q.key for q in questionnaire.shown("overall", {"fan": True})] == ["why"]
    with pytest.raises(schema.QuestionnaireProblems, match="does not come before it"):
        schema.questionnaire_from(asked, ("about", "overall", "taste", "items"))
    with pytest.raises(schema.QuestionnaireProblems, match="got 'taste'"):
        schema.questionnaire_from(asked)


REFUSED = {
    "not a list": "f[:] = []",
    "an unknown kind, and no end": "f[4] = {'key': 'thanks', 'kind': 'finish'}",
    "no end": "f.pop()",
    "the end in the middle": "f.insert(0, f.pop())",
    "the end in lists": "pages.append(f.pop()); f.pop()",
    "no elicitation": "f.pop(1)",
    "elicitation in lists": "pages.insert(0, f.pop(1))",
    "elicitation after lists": "f.insert(2, f.pop(1))",
    "no lists": "f.pop(2)",
    "lists twice": "f.insert(3, {'lists': {'pages': [{'key': 'again', 'kind': 'list'}]}})",
    "rounds": "f[2]['lists']['rounds'] = 3",
    "a list outside lists": "f.insert(2, pages.pop(0))",
    "items before the list": "pages.insert(0, pages.pop(1))",
    "the list as a whole before it": "f.insert(1, pages.pop(2))",
    "a key twice": "f[3]['key'] = 'overall'",
    "a key of another page": "f[3]['key'] = 'withdraw'",
    "a key that is none": "f[3]['key'] = 'Some more'",
    "a block twice": "f[3]['block'] = 'overall'",
    "no block": "del f[3]['block']",
    "items on a page of questions": "f[3]['block'] = 'items'",
    "a reserved block": "f[3]['block'] = 'profile'",
    "a block on a page that asks nothing": "f[1]['block'] = 'taste'",
    "items of another block": "pages[1]['block'] = 'films'",
    "about does not assign": "del f[0]['assigns']",
    "another page assigns": "f[3]['assigns'] = True",
    "assignment after the ratings": "f.insert(1, f.pop(0))",
    "a text without text": "f.insert(1, {'key': 'hello', 'kind': 'text'})",
    "text elsewhere": "f[1]['text'] = {'en': 'Rate!'}",
    "a title where there is none": "f[1]['title'] = {'en': 'Rate!'}",
    "an unknown field": "f[1]['minutes'] = 3",
    "a choice before the list": "pages.insert(0, {'key': 'pick', 'kind': 'choice'})",
    "a choice outside lists": "f.insert(3, {'key': 'pick', 'kind': 'choice'})",
    "two choices": "pages.extend({'key': key, 'kind': 'choice'} for key in ('pick', 'again'))",
    "a choice with a block": "pages.append({'key': 'pick', 'kind': 'choice', 'block': 'taste'})",
    "a choice with a reserved key": "pages.append({'key': 'item', 'kind': 'choice'})",
    "a choice with a text": "pages.append({'key': 'pick', 'kind': 'choice', 'text': {'en': 'Pick!'}})",
    "a comparison of one list": "pages.append({'key': 'compare', 'kind': 'compare'})",
    "side by side without a comparison": "del pages[1:]; f[2]['lists']['shown'] = 'side_by_side'",
    "side by side with pages about one list": (
        "pages.append({'key': 'compare', 'kind': 'compare'}); f[2]['lists']['shown'] = 'side_by_side'"
    ),
    "three lists side by side": (
        "pages[1:] = [{'key': 'compare', 'kind': 'compare'}]; f[2]['lists'] |= {'shown': 'side_by_side', 'at_once': 3}"
    ),
    "pairs of lists in turn": "f[2]['lists'] |= {'shown': 'in_turn', 'pairs_each': 2}",
    "a comparison outside lists": (
        "f.insert(3, {'key': 'compare', 'kind': 'compare'}); del pages[1:]; f[2]['lists']['shown'] = 'side_by_side'"
    ),
    "a comparison before the lists": (
        "pages[:] = [{'key': 'compare', 'kind': 'compare'}, pages[0]]; f[2]['lists']['shown'] = 'side_by_side'"
    ),
    "two comparisons": (
        "pages[1:] = [{'key': key, 'kind': 'compare'} for key in ('compare', 'again')]; "
        "f[2]['lists']['shown'] = 'side_by_side'"
    ),
    "a comparison of a reserved block": (
        "pages[1:] = [{'key': 'compare', 'kind': 'compare', 'block': 'items'}]; f[2]['lists']['shown'] = 'side_by_side'"
    ),
    "a comparison with a text": (
        "pages[1:] = [{'key': 'compare', 'kind': 'compare', 'text': {'en': 'Compare!'}}]; "
        "f[2]['lists']['shown'] = 'side_by_side'"
    ),
    "several at once": "f[1]['kind'] = 'rate'; f[3]['key'] = 'overall'; f[3]['assigns'] = True; f.insert(0, f.pop())",
}


def test_flows_are_refused_with_everything_that_is_wrong() -> None:
    said: dict[str, list[str]] = {}
    for name, edit in REFUSED.items():
        with pytest.raises(FieldProblems) as refused:
            read_flow(changed(edit))
        said[name] = list(map(str, refused.value.problems))
    assert_sentences_approved("refusals/flows", said)


def test_a_choice_is_the_question_of_a_block_named_after_its_page() -> None:
    design = read_settings({"flow": changed("pages.append({'key': 'pick', 'kind': 'choice'})"), "list_length": 3})
    whole = flow.with_choice({"overall": []}, design)
    (question,) = flow.read_questions(whole, design).block("pick")
    assert question.key == "chosen"
    assert question.text["it"] == "Quale vorresti {consume} adesso?"
    assert question.possible_answers() == ("1", "2", "3", "none")
    assert flow.whole_flow(design).blocks == ("about", "items", "overall", "pick", "after")
    assert flow.blocks_of(design) == ("about", "items", "overall", "after")
    own = changed("pages.append({'key': 'pick', 'kind': 'choice', 'title': {'en': 'Which?'}})")
    titled = read_settings({"flow": own})
    assert flow.read_questions(flow.with_choice({}, titled), titled).block("pick")[0].text == {"en": "Which?"}
    assert flow.with_choice(whole, read_settings({})) is whole
    asked = {"about": [1], "items": [1], "overall": [1], "after": [1], "pick": [1]}
    assert [str(problem) for problem in block_problems(own, asked, ())] == [
        "flow[2].lists.pages[3].key: The questionnaire has a block 'pick', and a choice is exported by that name. "
        "Choose another key."
    ]


SIDE_BY_SIDE = "pages[1:] = [{'key': 'compare', 'kind': 'compare'}]; f[2]['lists']['shown'] = 'side_by_side'"


def test_a_comparison_asks_the_block_of_its_name_unless_it_names_another() -> None:
    read = read_flow(changed(SIDE_BY_SIDE))
    assert [page.block for page in read.pages if page.kind == "compare"] == ["compare"]
    named = read_flow(changed(SIDE_BY_SIDE.replace("'compare'}]", "'compare', 'block': 'preference'}]")))
    assert Flow(named.pages).compared == "preference"
    assert Flow(FLOW_2011).compared == ""
    asked = {"about": [1], "after": [1]}
    assert [str(problem) for problem in block_problems(changed(SIDE_BY_SIDE), asked, ())] == [
        "flow[2].lists.pages[1].block: The questionnaire has no questions in the block 'compare'. Add some, or remove "
        "the page."
    ]


def test_a_stored_flow_may_say_that_two_lists_are_side_by_side() -> None:
    said = read_flow(changed(f"{SIDE_BY_SIDE}; f[2]['lists']['at_once'] = 2"))
    assert said == read_flow(changed(SIDE_BY_SIDE))
    assert "at_once" not in str(written_flow(said, said.lists))


def test_only_comparisons_ask_for_preferences_and_always_do() -> None:
    text = {"en": "Which one?", "it": "Quale?"}
    preference, remark = ({"key": kind, "kind": kind, "text": text} for kind in ("preference", "text"))
    design = read_settings({"flow": changed(SIDE_BY_SIDE)})

    def problems(**blocks: Any) -> list[str]:
        return [str(each) for each in flow.preference_problems(flow.read_questions(blocks, design), design)]

    assert problems(compare=[remark, preference]) == []
    assert problems(compare=[remark]) == [
        "compare: A page that compares lists asks for a preference. Add a question of the kind preference."
    ]
    only = "Only a page that compares lists asks for a preference. Choose another kind of question."
    assert problems(compare=[preference], after=[{**preference, "key": "again"}]) == [f"after[0].kind: {only}"]
    of_2011 = read_settings({})
    asked = flow.read_questions({"overall": [preference]}, of_2011)
    assert [str(each) for each in flow.preference_problems(asked, of_2011)] == [f"overall[0].kind: {only}"]


def test_problems_of_a_flow_are_those_of_its_setting() -> None:
    problems = settings_problems({"flow": changed("f.pop(); f[3]['key'] = 'overall'")})
    assert [problem.location for problem in problems if problem.location.startswith("flow")] == ["flow[3].key", "flow"]


def test_blocks_of_a_flow_and_of_its_questionnaire_agree() -> None:
    stored = changed("f[3] = {'key': 'taste', 'kind': 'questions', 'block': 'taste'}")
    asked = {"about": [1], "items": [1], "overall": [1], "after": [1], "taste": [], "attention": {"ends_after": 1}}
    assert [str(problem) for problem in block_problems(stored, asked, schema.NO_BLOCKS)] == [
        "flow[3].block: The questionnaire has no questions in the block 'taste'. Add some, or remove the page.",
        "flow: No page asks the block 'after' of the questionnaire. Add a page of questions, or remove the block.",
    ]


def test_texts_of_a_flow_are_in_every_language() -> None:
    hello = "{'key': 'hello', 'kind': 'text', 'title': {'en': 'Hello'}, 'text': {'en': 'Hello.', 'it': 'Ciao.'}}"
    pages = read_flow(changed(f"f.insert(0, {hello})")).pages
    assert [str(problem) for problem in text_problems(pages, ["en", "it"])] == [
        "flow: The page 'hello' has no title in 'it'. Add it."
    ]


def test_branch_of_an_unwatched_item_without_trailer() -> None:
    assert [measures.branch_of(True, None), measures.branch_of(False, False)] == ["watched", "neither"]


@pytest.mark.parametrize(
    "edit",
    [
        "pass",
        "pages.insert(1, {'key': 'pick', 'kind': 'choice', 'title': {'en': 'Which?'}})",
        "f.insert(0, {'key': 'hello', 'kind': 'text', 'title': {'en': 'Hi'}, 'text': {'en': 'Hello'}})",
        "f[2]['lists'].update(shown='in_turn', leave_out='nothing')",
    ],
)
def test_a_flow_that_is_written_is_read_as_it_was(edit: str) -> None:
    read = read_flow(changed(edit))
    assert read_flow(written_flow(read, read.lists)) == read
    in_turn = Lists(shown="in_turn")
    assert read_flow(written_flow(read, in_turn)) == replace(read, lists=in_turn)

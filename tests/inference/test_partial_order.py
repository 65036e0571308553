from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from inference.partial_order import Tier, compact_letters, partial_order
from inference.results import Pair

names = "ABCDEF"
NAME_PAIRS = list(combinations(names, 2))
relations = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=15, max_size=15)


def pair(a: str, b: str, difference: float = 1.0, is_significant: bool = True, p: float | None = 0.01) -> Pair:
    return Pair(a, b, difference, p, is_significant)


@given(relations)
def test_any_relation_gives_a_strict_order_that_its_edges_rebuild(signs: list[float]) -> None:
    pairs = [pair(a, b, sign, sign != 0, p=abs(sign)) for (a, b), sign in zip(NAME_PAIRS, signs, strict=True)]
    order = partial_order(dict.fromkeys(names, 0.0), pairs)
    below = {name: {b for a, b in order.covers if a == name} for name in names}
    for _ in names:
        below = {a: reached.union(*(below[b] for b in reached)) for a, reached in below.items()}
    comparable = {(a, b) for a, reached in below.items() for b in reached}
    assert all((b, a) not in comparable for a, b in comparable)
    assert set(order.incomparable) == {
        (a, b) for a, b in NAME_PAIRS if (a, b) not in comparable and (b, a) not in comparable
    }
    assert all(order.depth[a] < order.depth[b] for a, b in comparable)
    direct = {(a, b) for a, dominated in order.dominates.items() for b in dominated}
    if not order.cycle:
        assert direct <= comparable
        assert order.is_transitive == (direct == comparable)
    for name in names:
        tier = (bool(order.dominates[name]), bool(order.dominated_by[name]))
        assert (
            order.tiers[name]
            is {
                (True, False): Tier.MAXIMAL,
                (True, True): Tier.INTERMEDIATE,
                (False, True): Tier.MINIMAL,
                (False, False): Tier.UNORDERED,
            }[tier]
        )


@given(relations)
def test_two_share_a_letter_exactly_when_nothing_tells_them_apart(signs: list[float]) -> None:
    pairs = [pair(a, b, 1.0, sign > 0) for (a, b), sign in zip(NAME_PAIRS, signs, strict=True)]
    letters = compact_letters({name: float(place) for place, name in enumerate(names)}, pairs)
    for one in pairs:
        assert bool(set(letters[one.a]) & set(letters[one.b])) is not one.is_significant
    used = set("".join(letters.values()))
    # Nobody could be given a letter more without sharing it with somebody told apart from them.
    for letter in used:
        for name in (name for name in names if letter not in letters[name]):
            sharing = {other for other in names if letter in letters[other]}
            assert any(
                one.is_significant and {one.a, one.b} - {name} <= sharing for one in pairs if name in (one.a, one.b)
            )


def test_lower_is_better_turns_the_order_and_its_listing_round() -> None:
    locations = {"A": 3.0, "B": 1.0, "C": 2.0}
    pairs = [pair("A", "B", 2.0), pair("A", "C", 1.0, is_significant=False), pair("B", "C", -1.0)]
    up, down = partial_order(locations, pairs), partial_order(locations, pairs, higher_is_better=False)
    assert up.dominates == down.dominated_by
    assert up.best_first == ("A", "C", "B")
    assert down.best_first == ("B", "C", "A")
    assert compact_letters(locations, pairs)["B"] == "b"
    assert compact_letters(locations, pairs, higher_is_better=False)["B"] == "a"


def test_direction_is_that_of_the_compared_location_not_of_the_drawn_one() -> None:
    # Dunn compares mean ranks; a mean drawn beside it may lie the other way.
    order = partial_order({"A": 1.0, "B": 5.0}, [pair("A", "B", difference=4.5)])
    assert order.dominates == {"A": ("B",), "B": ()}


def test_a_significant_difference_of_nothing_orders_nobody() -> None:
    order = partial_order({"A": 1.0, "B": 1.0}, [pair("A", "B", difference=0.0)])
    assert order.is_empty
    assert set(order.tiers.values()) == {Tier.UNORDERED}


def test_the_printed_table_marks_the_unordered_in_its_middle_row() -> None:
    locations = {"low": 1.0, "loose": 3.5, "top": 5.0, "mid": 3.0}
    pairs = [pair("top", "low"), pair("top", "mid"), pair("mid", "low")]
    maximal, middle, minimal = partial_order(locations, pairs).rows
    assert (maximal.tier, maximal.names, maximal.unordered) == (Tier.MAXIMAL, ("top",), ())
    assert (middle.tier, middle.names, middle.unordered) == (Tier.INTERMEDIATE, ("loose", "mid"), ("loose",))
    assert (minimal.tier, minimal.names, minimal.unordered) == (Tier.MINIMAL, ("low",), ())


def test_a_circle_of_preferences_is_named_and_draws_no_edge() -> None:
    pairs = [pair("A", "B"), pair("B", "C"), pair("C", "A"), pair("C", "D")]
    order = partial_order({"A": 0.0, "B": 0.0, "C": 0.0, "D": 0.0}, pairs)
    assert order.cycle == ("A", "B", "C")
    assert not order.is_transitive
    assert order.covers == (("A", "D"), ("B", "D"), ("C", "D"))
    assert order.tiers["A"] is Tier.INTERMEDIATE


def test_no_conditions_have_no_letters_and_an_empty_order() -> None:
    assert compact_letters({}, []) == {}
    assert partial_order({}, []).is_empty


def test_letters_go_on_beyond_the_alphabets() -> None:
    # Six couples told apart within themselves only: each letter takes one of every couple, 64 in all.
    couples = [(f"a{place}", f"b{place}") for place in range(6)]
    locations = {name: 0.0 for couple in couples for name in couple}
    letters = compact_letters(locations, [pair(a, b) for a, b in couples])
    assert letters["a0"].startswith("ab")
    assert any(of_name.endswith("(64)") for of_name in letters.values())

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inference.corrections import adjust, holm

families = st.lists(st.floats(0, 1), max_size=12)


@given(families)
def test_holm_lies_between_each_p_and_bonferroni_and_keeps_their_order(p_values: list[float]) -> None:
    for p, by_holm, by_bonferroni in zip(p_values, holm(p_values), adjust(p_values, "bonferroni"), strict=True):
        assert p <= by_holm <= by_bonferroni <= 1
    ordered = sorted(zip(p_values, holm(p_values), strict=True))
    assert [adjusted for _, adjusted in ordered] == sorted(holm(p_values))


@given(families)
def test_sidak_is_no_larger_than_bonferroni(p_values: list[float]) -> None:
    for p, by_sidak, by_bonferroni in zip(
        p_values, adjust(p_values, "sidak"), adjust(p_values, "bonferroni"), strict=True
    ):
        assert p * (1 - 1e-12) <= by_sidak <= by_bonferroni * (1 + 1e-12) <= 1 + 1e-12

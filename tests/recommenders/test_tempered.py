from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import ParameterError
from recommenders import tempered
from recommenders.holdout import split
from recommenders.progress import no_progress
from recommenders.tempered import AspectParameters, Aspects, fold_in, free_energy, learn, start, step

pytestmark = pytest.mark.unit
RNG = np.random.default_rng(0)


def random_counts(seed: int, shape: tuple[int, int] = (9, 7)) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    return sparse.csr_array(rng.integers(1, 4, shape) * (rng.random(shape) < 0.5), dtype=np.float64)


def random_aspects(seed: int, shape: tuple[int, int], n_classes: int) -> Aspects:
    rng = np.random.default_rng(seed)
    rows, columns = rng.random((shape[0], n_classes)), rng.random((shape[1], n_classes))
    return Aspects(rows / rows.sum(axis=1, keepdims=True), columns / columns.sum(axis=0))


def reference_step(counts: np.ndarray, now: Aspects, beta: float) -> Aspects:
    """E and M step as they are written, one pair and one class after the other."""
    n_rows, n_columns = counts.shape
    n_classes = now.classes_of_row.shape[1]
    rows, columns = np.zeros((n_rows, n_classes)), np.zeros((n_columns, n_classes))
    for p in range(n_rows):
        for m in range(n_columns):
            if counts[p, m]:
                belongs = [(now.classes_of_row[p, z] * now.columns_of_class[m, z]) ** beta for z in range(n_classes)]
                for z in range(n_classes):
                    rows[p, z] += counts[p, m] * belongs[z] / sum(belongs)
                    columns[m, z] += counts[p, m] * belongs[z] / sum(belongs)
    rows = [row / row.sum() if row.any() else now.classes_of_row[p] for p, row in enumerate(rows)]
    return Aspects(np.array(rows), columns / columns.sum(axis=0))


def test_worked_example_of_a_step():
    """Person 1 likes item 1, person 2 both; classes lean 3 to 1 to an item each; all belong to both alike.

    Item 1 is of the first class with 3/4, item 2 with 1/4. So person 1 goes 3/4 to the first class and
    person 2 halves; of the first class's 3/4 + 3/4 + 1/4, item 1 has 6/7; of the second's 1/4 + 1/4 + 3/4, 2/5.
    """
    now = Aspects(np.full((2, 2), 0.5), np.array([[0.75, 0.25], [0.25, 0.75]]))
    after = step(sparse.csr_array([[1.0, 0.0], [1.0, 1.0]]), now, 1.0)
    np.testing.assert_allclose(after.classes_of_row, [[3 / 4, 1 / 4], [1 / 2, 1 / 2]], atol=1e-15)
    np.testing.assert_allclose(after.columns_of_class, [[6 / 7, 2 / 5], [1 / 7, 3 / 5]], atol=1e-15)


def test_worked_example_of_a_tempered_step():
    """At beta ½ 9 to 1 becomes 3 to 1."""
    now = Aspects(np.full((1, 2), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]]))
    np.testing.assert_allclose(step(sparse.csr_array([[1.0, 0.0]]), now, 0.5).classes_of_row, [[0.75, 0.25]])


@pytest.mark.parametrize("beta", [1.0, 0.7])
@pytest.mark.parametrize("block", [4, tempered.BLOCK_PAIRS])
def test_steps_agree_with_loops(monkeypatch, beta, block):
    monkeypatch.setattr(tempered, "BLOCK_PAIRS", block)
    counts = random_counts(1)
    counts = sparse.csr_array(sparse.vstack([counts, sparse.csr_array((1, 7))]))  # and somebody without a pair
    fast = slow = random_aspects(2, (10, 7), 3)
    for _ in range(5):
        fast, slow = step(counts, fast, beta), reference_step(counts.toarray(), slow, beta)
        np.testing.assert_allclose(fast.classes_of_row, slow.classes_of_row, rtol=0, atol=1e-9)
        np.testing.assert_allclose(fast.columns_of_class, slow.columns_of_class, rtol=0, atol=1e-9)


def test_free_energy_at_beta_one_is_the_likelihood():
    counts, now = random_counts(3), random_aspects(4, (9, 7), 2)
    joint = now.classes_of_row @ now.columns_of_class.T
    assert free_energy(counts, now, 1.0) == pytest.approx(float((counts.toarray() * np.log(joint)).sum()), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beta", [1.0, 0.8, 0.5])
def test_no_step_lowers_likelihood_or_free_energy(seed, beta):
    counts, now = random_counts(seed), random_aspects(seed, (9, 7), 3)
    heights = [free_energy(counts, now, beta)]
    for _ in range(60):
        now = step(counts, now, beta)
        heights.append(free_energy(counts, now, beta))
        np.testing.assert_allclose(now.classes_of_row.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(now.columns_of_class.sum(axis=0), 1, atol=1e-12)
    assert (np.diff(heights) >= -1e-10).all()
    assert heights[-1] > heights[0] + 1e-3


@pytest.mark.parametrize("beta", [1.0, 0.6])
def test_no_step_of_folding_in_lowers_them_either(beta):
    counts, columns = random_counts(6), random_aspects(7, (9, 7), 3).columns_of_class
    heights = [free_energy(counts, Aspects(fold_in(counts, columns, beta, n), columns), beta) for n in range(1, 30)]
    assert (np.diff(heights) >= -1e-10).all()


@pytest.mark.parametrize("block", [2, tempered.BLOCK_ROWS])
def test_folding_in_is_learning_with_one_side_fixed(monkeypatch, block):
    monkeypatch.setattr(tempered, "BLOCK_ROWS", block)
    counts, now = random_counts(8), random_aspects(9, (9, 7), 3)
    even = Aspects(np.full((9, 3), 1 / 3), now.columns_of_class)
    once = fold_in(counts, now.columns_of_class, 0.9, 1)
    np.testing.assert_allclose(once, reference_step(counts.toarray(), even, 0.9).classes_of_row, rtol=0, atol=1e-9)
    again = reference_step(counts.toarray(), Aspects(once, now.columns_of_class), 0.9).classes_of_row
    np.testing.assert_allclose(fold_in(counts, now.columns_of_class, 0.9, 2), again, rtol=0, atol=1e-9)


def test_row_of_impossible_pairs_belongs_to_all_classes_alike():
    columns = np.array([[1.0, 1.0], [0.0, 0.0]])
    counts = sparse.csr_array([[0.0, 2.0], [0.0, 0.0]])
    assert fold_in(counts, columns, 1.0, 3).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert free_energy(counts, Aspects(np.full((2, 2), 0.5), columns), 1.0) == 0.0


def test_start_is_proper_and_renumbers_with_the_data():
    counts = random_counts(10)
    rows, columns = np.random.default_rng(1).permutation(9), np.random.default_rng(2).permutation(7)
    first = start(counts, 3, RNG)
    moved = start(sparse.csr_array(counts[rows][:, columns]), 3, RNG)
    np.testing.assert_allclose(first.columns_of_class.sum(axis=0), 1)
    assert (first.columns_of_class > 0).all()
    assert len({column.round(6).tobytes() for column in first.columns_of_class.T}) == 3
    np.testing.assert_allclose(moved.columns_of_class, first.columns_of_class[columns], rtol=0, atol=1e-9)


def test_more_classes_than_rows_or_columns_are_refused():
    with pytest.raises(ParameterError, match=r"8 classes .* 7"):
        start(random_counts(11), 8, RNG)


def test_without_held_out_pairs_all_steps_are_at_beta_one():
    counts = random_counts(12)
    now = start(counts, 2, RNG)
    for _ in range(6):
        now = step(counts, now, 1.0)
    learned, beta = learn(counts, AspectParameters(2, 6, 0.0, 0.9), RNG)
    assert beta == 1.0
    np.testing.assert_array_equal(learned.columns_of_class, now.columns_of_class)


def two_tastes(n_rows: int = 60, n_columns: int = 40) -> sparse.csr_array:
    """Pairs mostly within two halves, and few enough that ten classes learn them by heart."""
    is_same = np.equal.outer(np.arange(n_rows) % 2, np.arange(n_columns) % 2)
    chance = np.random.default_rng(13).random((n_rows, n_columns))
    return sparse.csr_array((chance < np.where(is_same, 0.25, 0.03)).astype(np.float64))


def test_tempering_foretells_what_plain_em_has_learned_by_heart():
    counts = two_tastes()
    is_held = np.random.default_rng(14).random(counts.nnz) < 0.2
    seen, held = split(counts, is_held)
    plain, _ = learn(seen, AspectParameters(10, 100, 0.0, 0.9), np.random.default_rng(15))
    cooled, beta = learn(seen, AspectParameters(10, 300, 0.2, 0.9), np.random.default_rng(15))
    assert beta < 1.0
    assert free_energy(held, cooled, 1.0) > free_energy(held, plain, 1.0) + 50


def test_steps_on_the_way_to_the_best_are_the_ones_kept():
    counts = two_tastes()
    is_held = np.random.default_rng(16).random(counts.nnz) < 0.2
    seen, held = split(counts, is_held)
    betas = tempered._schedule(seen, held, AspectParameters(4, 300, 0.2, 0.8), rng=RNG, progress=no_progress)
    assert betas[0] == 1.0
    assert (np.diff(betas) <= 0).all()
    now = start(seen, 4, RNG)
    reached = []
    for beta in betas:
        now = step(seen, now, beta)
        reached.append(free_energy(held, now, 1.0))
    assert np.argmax(reached) == len(reached) - 1
    assert all(ratio == pytest.approx(0.8 ** round(np.log(ratio) / np.log(0.8))) for ratio in betas)


def test_steps_end_when_they_are_used_up():
    assert (
        len(
            tempered._schedule(
                two_tastes(), two_tastes(), AspectParameters(2, 3, 0.2, 0.9), rng=RNG, progress=no_progress
            )
        )
        == 3
    )


def test_nothing_counted_is_learned_without_a_number_out_of_place():
    learned, beta = learn(sparse.csr_array((4, 3)), AspectParameters(2, 5, 0.5, 0.9), RNG)
    assert beta == 1.0
    assert not learned.columns_of_class.any()
    np.testing.assert_allclose(learned.classes_of_row, 0.5)

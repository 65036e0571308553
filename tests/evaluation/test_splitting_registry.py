"""Splits by name: what every one of them has to hold, and how they are written."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import draw_keys, smallest, stream_key
from evaluation.splitting.leakage import find_leaks
from evaluation.splitting.registry import partitions, split_spec
from evaluation.splitting.rows import RatingRows, reserve
from tests.factories.evaluation import written_split
from tests.factories.splits import split_of
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit
WRITTEN = [
    "holdout",
    "holdout:within=user,share=.3",
    "probe:share=.1",
    "temporal-exact:test_users=6",
    "temporal-global",
    "temporal-global:share=0,test_users=5",
    "temporal-per-user",
    "temporal-per-user:share=0,test_users=7",
    "random-per-user:test_users=10",
    "given-n:n=3",
    "all-but-n:n=2,test_users=8",
    "strangers:share=.3,given=2",
    "strangers:share=.3,given=0,hidden=2",
    "strangers:share=.3,given=0,given_share=.8",
    "k-fold:k=4",
    "k-fold:k=3,over=users",
    "leave-one-out",
    "leave-one-out:which=random,test_users=9",
    "cold-start-items:share=.2",
    "cold-start-items:start=hot,outcome=explicit,share=.4",
    "dev-eval:of=given-n,n=2",
    "dev-eval:of=temporal-global,development=.3",
]


def data(seed: int = 1, n_users: int = 30, n_items: int = 25):
    """Ratings of users with 0 to many of them, and times with ties."""
    rng = np.random.default_rng(seed)
    density = rng.beta(1, 3, n_users)
    density[:2] = 0.0, 0.05
    is_rated = rng.random((n_users, n_items)) < density[:, None]
    user_items = csr_array(np.where(is_rated, rng.integers(1, 6, (n_users, n_items)), 0).astype(np.float32))
    return user_items, rng.integers(0, 40, user_items.nnz)


def made(text: str, rows: RatingRows, seed: int = 5):
    return list(partitions(written_split(text), rows, seed))


def same(first, second) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("train", "hidden", "profile", "test_users", "development_users")
    )


@pytest.mark.parametrize("text", WRITTEN)
def test_every_rating_is_on_one_side_or_accounted_for_and_nothing_leaks(text):
    user_items, times = data()
    reserved = reserve(30, 0.2, seed=5)
    rows = RatingRows.of(user_items, times=times, reserved=reserved)
    found = made(text, rows)
    assert found
    assert len(found) == 1 or written_split(text).trains_many
    for one in found:
        assert find_leaks(rows, one) == ()
        assert len(one.hidden)
        together = np.concatenate([one.train, one.hidden, one.profile])
        assert len(np.unique(together)) == len(together)
        assert len(together) + sum(one.left_out.values()) == len(rows)
        assert one.left_out["ratings of reserved users"] == np.isin(rows.users, reserved).sum()
        assert not np.isin(one.test_users, reserved).any()
        assert set(rows.users[one.hidden]) <= set(one.test_users.tolist())
        assert all(count >= 0 for count in one.counted.values())


@pytest.mark.parametrize("text", WRITTEN)
def test_a_seed_says_everything_and_other_seeds_say_something_else(text):
    user_items, times = data()
    rows = RatingRows.of(user_items, times=times)
    first, again = made(text, rows), made(text, rows)
    assert [one.label for one in first] == [one.label for one in again]
    assert all(same(one, other) for one, other in zip(first, again, strict=True))
    depends_on_time_alone = text in ("temporal-global", "temporal-per-user")
    if not depends_on_time_alone:
        others = [made(text, rows, seed) for seed in (6, 7, 8)]
        assert not all(
            len(other) == len(first) and all(same(one, two) for one, two in zip(first, other, strict=True))
            for other in others
        )


@pytest.mark.parametrize(
    "text",
    ["holdout:within=user,share=.3", "temporal-per-user", "temporal-per-user:share=0", "random-per-user",
     "given-n:n=3", "all-but-n:n=2", "leave-one-out", "leave-one-out:which=random"],
)  # fmt: skip
def test_users_appended_do_not_move_what_others_have_hidden(text):
    """Draws are keyed by user and item, not by the place in the file."""
    user_items, times = data()
    more = csr_array(np.vstack([user_items.toarray(), np.ones((1, 25), dtype=np.float32)]))
    rows = RatingRows.of(user_items, times=times)
    longer = RatingRows.of(more, times=np.concatenate([times, np.arange(25)]))
    for one, two in zip(made(text, rows), made(text, longer), strict=True):
        assert np.array_equal(one.hidden, two.hidden[two.hidden < len(rows)])


@pytest.mark.parametrize("text", WRITTEN)
def test_a_split_is_written_as_it_is_read(text):
    spec = written_split(text)
    assert written_split(str(spec)) == spec
    assert spec.trains_many == text.startswith(("k-fold", "temporal-exact"))
    assert spec.needs_times == ("temporal" in text or (text.startswith("leave-one-out") and "random" not in text))


def test_probe_hides_what_it_always_hid():
    user_items, _ = data()
    reserved = reserve(30, 0.2, seed=3)
    spec = split_spec("probe", {"share": 0.1})
    one = next(partitions(spec, RatingRows.of(user_items, reserved=reserved), 3))
    others = csr_array(user_items.toarray() * ~np.isin(np.arange(30), reserved)[:, None]).tocoo()
    users, items = others.coords
    is_hidden = smallest(draw_keys(stream_key(3, "probe"), users, items), round(0.1 * others.nnz))
    now = split_of(one, user_items)
    train = csr_array((others.data[~is_hidden], (users[~is_hidden], items[~is_hidden])), shape=user_items.shape)
    assert (now.train != train).nnz == 0
    assert now.hidden_users.tolist() == users[is_hidden].tolist()
    assert now.hidden_items.tolist() == items[is_hidden].tolist()
    assert now.hidden_values.tolist() == others.data[is_hidden].tolist()
    is_cold = np.bincount(train.indices, minlength=user_items.shape[1])[items[is_hidden]] == 0
    assert now.left_out["hidden ratings of items without training ratings"] == is_cold.sum()


@pytest.mark.parametrize(("text", "given", "hidden"), [("given=2", 2, None), ("given=0,hidden=3", None, 3)])
def test_strangers_train_nothing_and_give_as_many_ratings_as_stated(text, given, hidden):
    user_items, _ = data()
    rows = RatingRows.of(user_items)
    (partition,) = made(f"strangers:share=.3,{text}", rows)
    eligible = np.flatnonzero(rows.counts > (given or hidden))
    assert len(partition.test_users) == round(0.3 * len(eligible))
    assert set(partition.test_users) <= set(eligible)
    assert not np.isin(rows.users[partition.train], partition.test_users).any()
    n_given, n_hidden = (
        np.bincount(rows.users[side], minlength=30)[partition.test_users]
        for side in (partition.profile, partition.hidden)
    )
    assert (n_given + n_hidden == rows.counts[partition.test_users]).all()
    assert set(n_given if given else n_hidden) == {given or hidden}
    assert not np.array_equal(partition.test_users, made(f"strangers:share=.3,{text}", rows, seed=6)[0].test_users)


def test_strangers_give_a_share_of_their_ratings_and_both_sides_have_one():
    user_items, _ = data()
    rows = RatingRows.of(user_items)
    for share in (0.001, 0.8, 0.999):
        (partition,) = made(f"strangers:share=.3,given=0,given_share={share}", rows)
        counts = rows.counts[partition.test_users]
        n_given = np.bincount(rows.users[partition.profile], minlength=30)[partition.test_users]
        assert n_given.tolist() == np.clip(np.rint(share * counts), 1, counts - 1).tolist()
        assert len(partition.profile) + len(partition.hidden) == counts.sum()
    # Existing splits are stored without the option.
    assert "given_share" not in written_split("strangers:given=5").options.as_dict()


def test_matrices_keep_every_index():
    user_items, _ = data()
    fold = made("k-fold:k=3,over=users", RatingRows.of(user_items))[1]
    split, profiles = split_of(fold, user_items), fold.profiles(user_items)
    assert split.train.has_canonical_format
    assert split.train.shape == profiles.shape == user_items.shape
    assert split.is_hidden.sum() == len(split.hidden_values) == len(fold.hidden)
    assert profiles.nnz == split.train.nnz + len(fold.profile)
    assert np.diff(split.train.indptr)[fold.test_users].sum() == 0
    whole = profiles + csr_array(
        (split.hidden_values, (split.hidden_users, split.hidden_items)), shape=user_items.shape
    )
    assert (whole != user_items).nnz == 0
    with pytest.raises(DataError, match="the matrix has"):
        fold.profiles(user_items[:5])


WRONG = (
    "random",
    "holdout:size=.1",
    "holdout:share=1",
    "holdout:within=item",
    "given-n:n=0",
    "strangers:given=0",
    "strangers:given=5,hidden=3",
    "strangers:given_share=.8",
    "k-fold:k=1",
    "probe:share=.5,list=probe.txt",
    "dev-eval",
    "dev-eval:of=dev-eval",
    "dev-eval:of=k-fold",
    "dev-eval:of=given-n,share=.4",
)
TOO_FEW = ("strangers:share=0", "strangers:share=.01", "strangers:given=25")


def test_splits_that_are_refused():
    rows = RatingRows.of(data()[0])
    cases = {text: partial(written_split, text) for text in WRONG}
    cases |= {f"{text} of 30 users": partial(made, text, rows) for text in TOO_FEW}
    cases |= {"a list that is not read": lambda: made("probe:list=probe.txt", rows)}
    assert_refused_as_approved("splits", cases)


def test_splits_by_time_need_times():
    user_items, _ = data()
    untimed = RatingRows.of(user_items, times=[])
    for text in (
        "temporal-exact",
        "temporal-global",
        "temporal-per-user",
        "leave-one-out",
        "dev-eval:of=leave-one-out",
    ):
        with pytest.raises(ParameterError, match="needs the times"):
            list(partitions(written_split(text), untimed, 1))
    assert made("leave-one-out:which=random", untimed)


def test_a_list_that_was_read_is_hidden():
    user_items, _ = data()
    rows = RatingRows.of(user_items)
    spec = written_split("probe:list=probe.txt")
    (one,) = partitions(spec, rows, 1, (rows.users[:4], rows.items[:4]))
    assert one.hidden.tolist() == [0, 1, 2, 3]

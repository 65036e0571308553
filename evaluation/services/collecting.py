"""Lists of a remote recommender for the test profiles of a run, collected once and measured without the service."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from catalog.selectors.item_fields import field_of
from evaluation.models import EvaluationRun, RemoteRecommender, TrainedModel
from evaluation.protocols.hit_metrics import exact_hit_probability
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.runs import longest_list
from evaluation.services.measurement import cut
from evaluation.services.optional_inputs import has_times, with_times
from evaluation.services.remote import described_for, model_of_service, service_of
from evaluation.services.remote_lists import remote_list
from evaluation.splitting.short_profiles import cut_profiles
from recommenders.data import History, Profiles
from recommenders.uploaded_lists import profile_keys

COLUMNS = ["key", "item", "score"]
MOST_OUTSIDE = 0.0005  # contribution of an item outside a list to the exact recall
USERS_AT_A_TIME = 100


@dataclass(frozen=True)
class Collected:
    """A file of lists and the model whose lists they are."""

    path: Path
    model: TrainedModel
    n_lists: int
    depth: int


def depth_of(run: EvaluationRun) -> int:
    """How long lists have to be: an item outside them contributes less than .0005 to the exact recall of
    one-plus-random; other protocols count the items of their lists.
    """
    longest, n_items = longest_list(run), run.version.n_items
    if run.protocol["name"] != "one-plus-random":
        return longest
    depths, negatives = np.arange(longest, n_items), int(run.protocol["negatives"])
    none, sizes = np.zeros_like(depths), np.full_like(depths, n_items)
    chances = exact_hit_probability(depths, none, sizes, negatives, [run.n])[:, 0]
    return int(depths[np.argmax(chances < MOST_OUTSIDE)])


def collect_lists(
    *,
    run: EvaluationRun,
    recommender: RemoteRecommender,
    folder: Path,
    depth: int,
    per_second: float,
    progress: Callable[[int], None],
) -> Collected:
    """Ask for the list of every test profile of a run, at each profile length, and write them as lists by key.

    A file that is there is continued, so that a stopped collection can be called again. Raises ParallaxError as
    `evaluation.services.remote_lists.remote_list` and `evaluation.services.remote.described_for` do.
    """
    service = service_of(recommender)
    described = described_for(service, run.version)
    model = model_of_service(service=service, described=described, version=run.version)
    depth = min(depth, described.max_depth)
    path = folder / f"lists-{recommender.name}-{model.digest[:12]}-{depth}.csv"  # all of its lists are of one length
    ids, known = field_of(run.version, "ids"), _cut_last_list(path)
    with path.open("a", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        if file.tell() == 0:
            lines.writerow(COLUMNS)
        for key, profiles, row in _profiles(run, ids):
            if key in known:
                continue
            started = time.monotonic()
            rated = profiles.user_items[[row]]
            order = profiles.order
            own = slice(profiles.user_items.indptr[row], profiles.user_items.indptr[row + 1])
            served = remote_list(
                model=model,
                items=rated.indices.tolist(),
                ratings=rated.data.tolist(),
                scale=(profiles.scale.low, profiles.scale.high, profiles.scale.step),
                n=min(depth, run.version.n_items - rated.nnz),
                left_out=(),
                history=None if order is None else History("consumption", order=order[own].tolist()),
                request=key[-64:],
            )
            pairs = zip(served.items, served.scores, strict=True)
            lines.writerows([key, ids[item], "" if score is None else score] for item, score in pairs)
            file.flush()  # nothing but the last list is lost when this process ends
            known.add(key)
            progress(len(known))
            time.sleep(max(0.0, 1 / per_second - (time.monotonic() - started)))
    return Collected(path, model, len(known), depth)


def _cut_last_list(path: Path) -> set[str]:
    """Cut the last list off a file, half of which a collection may have written before it was killed; returns the keys
    of the others.
    """
    if not path.exists():
        return set()
    text = path.read_bytes().rpartition(b"\n")[0].decode() + "\n"
    keys = [line["key"] for line in csv.DictReader(io.StringIO(text, newline=""))]
    end = text.index(keys[-1]) if keys else 0
    os.truncate(path, len(text[:end].encode()))
    return set(keys) - set(keys[-1:])


def _profiles(run: EvaluationRun, ids: list[str]) -> Iterator[tuple[str, Profiles, int]]:
    """The test profiles of a run with their keys: each as a row of some profiles, with their order if it is known."""
    run_cases = cases_of(run)
    rows = training_rows(run_cases.profiles_digest)
    if has_times(run.version):
        rows = with_times(rows, run.version, run_cases.profiled)
    users = np.unique(run_cases.cases.users)
    for length in (0, *run.profile_lengths):
        for start in range(0, users.size, USERS_AT_A_TIME):
            block = users[start : start + USERS_AT_A_TIME]
            profiles = Profiles.of(rows, np.searchsorted(run_cases.profiled, block))
            if length:
                profiles = cut(profiles, cut_profiles(profiles.user_items, n=length, seed=run.seed, users=block))
            for row, key in enumerate(profile_keys(profiles, ids)):
                yield key, profiles, row

"""The peer's side of benchmarks/metrics.py: arrays in, mean values and seconds out, as JSON, once for each line read.

It runs in the peer's environment and knows nothing of the project. Building the dictionaries is counted, as the peer
takes nothing else; users without a relevant item are left out beforehand, which is kind to it.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np
import pytrec_eval

MEASURES = {"P_10": "precision@10", "recall_10": "recall@10", "ndcg_cut_10": "ndcg@10", "map_cut_10": "ap@10"}


def once(lists: np.ndarray, users: np.ndarray, items: np.ndarray) -> tuple[list[float], dict[str, float]]:
    started = time.perf_counter(), time.process_time()
    names = [str(item) for item in range(int(max(lists.max(), items.max())) + 1)]
    truth: dict[str, dict[str, int]] = {}
    for user, item in zip(users.tolist(), items.tolist(), strict=True):
        truth.setdefault(str(user), {})[names[item]] = 1
    scores = [float(lists.shape[1] - rank) for rank in range(lists.shape[1])]
    tested = np.unique(users)
    run = {
        str(user): dict(zip([names[item] for item in row], scores, strict=True))
        for user, row in zip(tested.tolist(), lists[tested].tolist(), strict=True)
    }
    by_user = pytrec_eval.RelevanceEvaluator(truth, {"P.10", "recall.10", "ndcg_cut.10", "map_cut.10"}).evaluate(run)
    means = {ours: float(np.mean([of_user[key] for of_user in by_user.values()])) for key, ours in MEASURES.items()}
    return [time.perf_counter() - started[0], time.process_time() - started[1]], means


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        arrays = [stored[name] for name in ("lists", "users", "items")]
    sys.stdout.write(json.dumps({"version": version("pytrec-eval-terrier")}) + "\n")
    sys.stdout.flush()
    for _ in sys.stdin:
        seconds, means = once(*arrays)
        sys.stdout.write(json.dumps({"seconds": seconds, "means": means}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""The peers' side: runs in a peer's own environment, does pieces of work on request and says how long each took.

Arguments: the folder of the arrays (`data.npy`, `indices.npy`, `indptr.npy`) and the number of threads. Each line read
is a task's name, each line written the answer: seconds, and what else there is to tell, as JSON.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.sparse import linalg


class Work:
    def __init__(self, folder, threads):
        parts = (np.load(Path(folder) / f"{name}.npy") for name in ("data", "indices", "indptr", "shape"))
        data, indices, indptr, shape = parts
        self.ratings = sparse.csr_matrix((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=tuple(shape))
        self.threads = threads
        self.kept = {}

    def hello(self):
        import importlib.metadata as metadata

        names = ("numpy", "scipy", "implicit", "scikit-learn", "scikit-surprise")
        return {"versions": {name: metadata.version(name) for name in names if _is_there(metadata, name)}}

    def cosine_fit(self):
        from implicit.nearest_neighbours import CosineRecommender

        model = CosineRecommender(K=200, num_threads=self.threads)
        seconds = timed(lambda: model.fit(self.ratings, show_progress=False))
        self.kept["knn"] = model
        return seconds

    def factors_top(self):
        if "als" not in self.kept:
            from implicit.als import AlternatingLeastSquares

            model = AlternatingLeastSquares(factors=50, iterations=1, num_threads=self.threads, random_state=1)
            model.fit(self.ratings, show_progress=False)
            self.kept["als"] = model
        return self._top(self.kept["als"])

    def knn_top(self):
        if "knn" not in self.kept:
            self.cosine_fit()
        return self._top(self.kept["knn"])

    def _top(self, model):
        users = np.arange(self.ratings.shape[0])
        return timed(lambda: model.recommend(users, self.ratings, N=10, filter_already_liked_items=True))

    def cold(self):
        if "knn" not in self.kept:
            self.cosine_fit()
        people = np.load(Path(sys.argv[1]) / "people.npy")
        times = []
        for items in people:
            started = time.perf_counter()
            row = sparse.csr_matrix(
                (np.array([5, 4, 3, 4, 5], dtype=np.float32), items, np.array([0, 5])), shape=(1, self.ratings.shape[1])
            )
            built = time.perf_counter()
            self.kept["knn"].recommend(0, row, N=5)
            times.append((time.perf_counter() - built, time.perf_counter() - started))
        answered = np.array(times[20:])[:, 0]
        return {"p50": float(np.percentile(answered, 50)), "p99": float(np.percentile(answered, 99))}

    def svds_pair(self):
        matrix = self.ratings.astype(np.float64)
        return timed(lambda: [linalg.svds(matrix, k=k) for k in (50, 300)])

    def randomized_pair(self):
        from sklearn.utils.extmath import randomized_svd

        matrix = self.ratings.astype(np.float64)
        return timed(lambda: [randomized_svd(matrix, k, random_state=1) for k in (50, 300)])

    def randomized(self):
        from sklearn.utils.extmath import randomized_svd

        matrix = self.ratings.astype(np.float64)
        return timed(lambda: randomized_svd(matrix, 50, random_state=1))

    def _trainset(self):
        if "trainset" not in self.kept:
            from surprise import Trainset

            triples = self.ratings.tocoo()
            by_user, by_item = {}, {}
            for user, item, rating in zip(
                triples.row.tolist(), triples.col.tolist(), triples.data.tolist(), strict=True
            ):
                by_user.setdefault(user, []).append((item, rating))
                by_item.setdefault(item, []).append((user, rating))
            n_users, n_items = self.ratings.shape
            raw = {n: n for n in range(n_users)}, {n: n for n in range(n_items)}
            # Its lists are looked up for every number, so those without a rating have an empty one.
            for n in range(n_users):
                by_user.setdefault(n, [])
            for n in range(n_items):
                by_item.setdefault(n, [])
            self.kept["trainset"] = Trainset(by_user, by_item, n_users, n_items, triples.nnz, (1, 5), *raw)
        return self.kept["trainset"]

    def pearson_fit(self):
        from surprise import KNNBaseline

        how = {"name": "pearson_baseline", "user_based": False, "shrinkage": 100}
        trainset = self._trainset()
        return timed(lambda: KNNBaseline(k=200, sim_options=how, verbose=False).fit(trainset))

    def svdpp_epoch(self):
        from surprise import SVDpp

        trainset = self._trainset()
        return timed(lambda: SVDpp(n_factors=50, n_epochs=1, random_state=1).fit(trainset))


def _is_there(metadata, name):
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def timed(work):
    started, used = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}


def main():
    work = Work(sys.argv[1], int(sys.argv[2]))
    answers = sys.stdout
    sys.stdout = sys.stderr  # libraries print as they please
    for line in sys.stdin:
        print(json.dumps(getattr(work, line.strip())()), file=answers, flush=True)


main()

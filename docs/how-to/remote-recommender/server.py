"""A recommender behind HTTP in FastAPI: a Markov chain, which uses the order of a profile.

pip install fastapi uvicorn
ITEMS=items.jsonl RATINGS=ratings.csv uvicorn server:app --port 8200

ratings.csv has a line of headings and, as MovieLens, user, item, rating and time.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

DECAY = 0.8  # of the weight of a rated item, for each item rated after it
MAX_DEPTH = 500
ITEMS, RATINGS, TOKEN = Path(os.environ["ITEMS"]), Path(os.environ["RATINGS"]), os.environ.get("TOKEN", "")


class Rated(BaseModel):
    item: str
    rating: float
    order: int


class Request(BaseModel):
    request: str
    n: int = Field(ge=1, le=MAX_DEPTH)
    profile: list[Rated]
    exclude: list[str]


CATALOGUE = ITEMS.read_bytes()
IDS = [json.loads(line)["item"] for line in CATALOGUE.splitlines()]
followed: defaultdict[str, Counter[str]] = defaultdict(Counter)
popularity: Counter[str] = Counter()


def learn() -> None:
    """Count what people rated directly after each item."""
    known, histories = set(IDS), defaultdict(list)
    with RATINGS.open(newline="") as file:
        for user, item, _rating, seconds in list(csv.reader(file))[1:]:
            if item in known:
                histories[user].append((float(seconds), item))
    for history in histories.values():
        items = [item for _, item in sorted(history)]
        popularity.update(items)
        for before, after in pairwise(items):
            followed[before][after] += 1


learn()
# All that determines a list: the data, and this file.
version = hashlib.sha256(CATALOGUE + RATINGS.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:16]
app = FastAPI()


def allowed(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]) -> None:
    """Refuse requests without the token."""
    if TOKEN and (credentials is None or credentials.credentials != TOKEN):
        raise HTTPException(401, "The bearer token is missing or wrong.")


@app.get("/about", dependencies=[Depends(allowed)])
def about() -> dict[str, Any]:
    """What this service is."""
    catalogue = hashlib.sha256(CATALOGUE).hexdigest()
    promises = {"deterministic": True, "max_depth": MAX_DEPTH}
    return {"protocol": "parallax-recommender/1", "version": version, "catalogue": catalogue, **promises}


@app.post("/recommend", dependencies=[Depends(allowed)])
def recommend(request: Request) -> dict[str, Any]:
    """The items that most often came next, then the most popular ones; equal ones in the order of the catalogue."""
    scores: defaultdict[str, float] = defaultdict(float)
    newest_first = sorted(request.profile, key=lambda rated: -rated.order)
    for age, rated in enumerate(newest_first):
        total = followed[rated.item].total() if rated.item in followed else 0
        for item, count in followed.get(rated.item, {}).items():
            scores[item] += DECAY**age * count / total
    excluded = set(request.exclude)
    best = sorted((item for item in IDS if item not in excluded), key=lambda item: (-scores[item], -popularity[item]))
    items = [{"item": item, "score": scores[item]} for item in best[: request.n]]
    return {"request": request.request, "version": version, "items": items}

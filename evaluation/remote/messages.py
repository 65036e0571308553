"""Messages between Parallax and a recommender behind HTTP, and what a list has to fulfil.

docs/reference/remote-recommender.yaml describes them for the authors of services.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from core.errors import ParameterError

PROTOCOL = "parallax-recommender/1"
DIGEST = r"^[0-9a-f]{64}$"
MOST_IN_ONE = 100  # requests of one call of /recommend-many
EXAMPLES = 10  # of each kind of problem

ItemId = Annotated[str, Field(min_length=1, max_length=100)]
Version = Annotated[str, Field(min_length=1, max_length=100)]


class Message(BaseModel):
    """JSON whose fields are all known: a wrong name is an error, and not a default."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class About(Message):
    """What a service says of itself."""

    protocol: Literal["parallax-recommender/1"]
    version: Version = Field(description="Changes whenever the same request could get another list.")
    catalogue: str = Field(pattern=DIGEST, description="SHA-256 of the file items.jsonl that the service has read.")
    deterministic: bool = Field(description="Whether the same profile gets the same list every time.")
    max_depth: int = Field(ge=1, description="The longest list.")


class RatingScale(Message):
    """The points of the ratings of a profile."""

    low: float
    high: float
    step: float = Field(ge=0, description="0 where ratings are not on steps.")


class RatedItem(Message):
    """One rating of a profile."""

    item: ItemId
    rating: float
    order: int = Field(ge=1, description="1 for the item that was rated first; of test users, consumed first.")
    title: str | None = Field(default=None, description="Only if the service is registered to be sent titles or texts.")
    text: str | None = Field(default=None, description="Only if it is registered to be sent texts, and there is one.")


class Context(Message):
    """The circumstances of a request."""

    language: str = "en"
    session: int = Field(default=1, ge=1)
    occasion: int = Field(default=1, ge=1)
    answers: dict[str, JsonValue] = Field(default={}, description="Only those that the design of the study lists.")


class ListQuery(Message):
    """One list for one profile."""

    request: str = Field(min_length=1, max_length=64, description="Repeated where a request is sent again.")
    n: int = Field(ge=1, description="The length of the list, never more than max_depth.")
    scale: RatingScale
    profile: list[RatedItem]
    exclude: list[ItemId] = Field(description="Items that the list must not have, those of the profile among them.")
    context: Context = Context()


class ListedItem(Message):
    """One place of a list."""

    item: ItemId
    score: float | None = None
    explanation: dict[str, Annotated[str, Field(max_length=300)]] = Field(
        default={}, description="Plain text by language."
    )


class ListAnswer(Message):
    """The list for a request, best item first."""

    request: str
    version: Version
    items: list[ListedItem]
    facts: dict[str, JsonValue] = Field(default={}, description="Anything else worth storing with the list.")


class ManyRequests(Message):
    """Several requests in one call, for lists of test users."""

    requests: list[ListQuery] = Field(min_length=1, max_length=MOST_IN_ONE)


class ManyAnswers(Message):
    """Their lists, in the order of the requests."""

    answers: list[ListAnswer]


def check_list(request: ListQuery, answer: ListAnswer, known: Collection[str]) -> None:
    """Refuse a list that has other items than a request allows, or another number of them. Raises ParameterError with
    all problems.

    `known`: the ids of the catalogue.
    """
    ids = [listed.item for listed in answer.items]
    excluded, times = set(request.exclude), Counter(ids)
    problems = [
        _problem("not in the catalogue", "Answer with ids of items.jsonl.", (i for i in times if i not in known)),
        _problem("excluded by the request", "Leave out the ids of `exclude`.", (i for i in times if i in excluded)),
        _problem("repeated", "Name each item once.", (i for i in times if times[i] > 1)),
    ]
    if len(ids) != request.n:
        problems.append(f"The list has {len(ids)} items where the request asks for {request.n}. Answer with exactly n.")
    if text := " ".join(filter(None, problems)):
        raise ParameterError(text)


def _problem(what: str, remedy: str, items: Iterable[str]) -> str:
    ids = list(items)
    more = f" and {len(ids) - EXAMPLES} more" if len(ids) > EXAMPLES else ""
    return f"Listed items that are {what} ({len(ids)}): {', '.join(ids[:EXAMPLES])}{more}. {remedy}" if ids else ""

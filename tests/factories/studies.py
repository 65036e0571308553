"""Studies in tests, made and brought to a state by the real services, and people who walk through them."""

from __future__ import annotations

import json
import secrets
from typing import Any

from catalog.models import DatasetVersion, Item
from evaluation.models import EvaluationRun
from studies.allocation.assignment.sequences import williams_square
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import close_study, launch_study, pause_study
from studies.enums import Mode
from studies.instrument.flow import Place
from studies.models import Condition, Participant, Sequence, Study
from studies.participation.services import consenting, enrolment, finishing, ratings, recommending
from studies.participation.services.entry_gate import EntryAttempt
from studies.recruitment.panels.exits import Exit
from studies.recruitment.services.recruitment import set_exits, set_panel
from studies.settings import USED
from tests.factories import answering
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_usage_version
from tests.factories.evaluation import make_run_at
from tests.factories.replay import replayed

ABOUT = {
    "first_visit": True,
    "recommender_experience": False,
    "age": 30,
    "gender": "woman",
    "education": "master",
    "nationality": "Italian",
    "items_per_month": "3_to_5",
}


def make_study(
    *,
    slug: str = "good-films",
    status: str = "live",
    per_condition: int = 2,
    run: EvaluationRun | None = None,
    version: DatasetVersion | None = None,
    owner: Any = None,
    seed: int | None = 1,
    settings: dict[str, Any] | None = None,
) -> Study:
    """A study of TopPop and PureSVD4 on a small dataset, in the state asked for."""
    given = {
        "slug": slug, "status": status, "per_condition": per_condition, "run": run, "version": version, "owner": owner,
        "seed": seed, "settings": settings,
    }  # fmt: skip
    if run or version or owner or seed is None:
        return _made(**given)
    key = json.dumps({"slug": slug, "status": status, "n": per_condition, "seed": seed, "settings": settings})
    study: Study = replayed(
        Study, ("accounts", "catalog", "core", "evaluation", "studies"), (key,), lambda: _made(**given)
    )
    return study


def _made(
    *,
    slug: str,
    status: str,
    per_condition: int,
    run: EvaluationRun | None,
    version: DatasetVersion | None,
    owner: Any,
    seed: int | None,
    settings: dict[str, Any] | None,
) -> Study:
    if run is None:
        run = make_run_at("succeeded", **({"version": version} if version else {}))
    study = create_study(
        slug=slug,
        version=run.version,
        run=run,
        per_condition=per_condition,
        seed=seed,
        owner=owner or UserFactory(),
    )
    # Blocks of one each, unless a test is about others: a few participants then meet every condition.
    study.settings = {**study.settings, "block_multiples": [1]}
    study.save(update_fields=["settings"])
    if settings:
        change_design(study=study, settings=settings)
    if status != "draft":
        study.refresh_from_db()
        launch_study(study=study)
    if status == "paused":
        pause_study(study=study)
    if status == "closed":
        close_study(study=study)
    study.refresh_from_db()
    return study


def make_usage_run(**given: Any) -> EvaluationRun:
    """A run on usage data, with a metric that a study's plan can name."""
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 1.0, "irrelevant": 0.5}
    return make_run_at("succeeded", **{"version": make_usage_version(), "protocol": protocol, **given})


def recruit_on_prolific(study: Study, **panel: Any) -> None:
    """Let people come by Prolific's open link; those who complete get its one code."""
    set_exits(study=study, exits={"complete": Exit("static", "C1A2")})
    set_panel(study=study, panel="prolific", entrance="open", **panel)


def add_conditions(study: Study, n: int) -> None:
    """Give a draft `n` conditions in all: assignment does not care that two share a model."""
    first = study.conditions.order_by("position").first()
    assert first is not None
    for position in range(study.conditions.count(), n):
        Condition.objects.create(
            study=study,
            position=position,
            label=f"Condition {position}",
            model=first.model,
            model_digest=first.model_digest,
            target=first.target,
        )


def add_sequences(study: Study, target: int) -> None:
    """Let people of a draft meet all its conditions in turn, so many in each sequence."""
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    for position, conditions in enumerate(williams_square(len(labels))):
        Sequence.objects.create(
            study=study,
            position=position,
            label=", ".join(labels[condition] for condition in conditions),
            target=target,
            occasions=[[condition] for condition in conditions],
        )


def enter(study: Study, mode: str = Mode.LIVE, **kwargs: Any) -> consenting.Entry:
    """Someone who has just given consent."""
    return consenting.consent(EntryAttempt(study=study, entry_key=secrets.token_urlsafe(32), mode=mode, **kwargs))


def assigned(study: Study, mode: str = Mode.LIVE, **about: Any) -> Participant:
    """Someone who has told about themselves, and holds a slot where there was one."""
    entry = enter(study, mode)
    return enrolment.accept_about(participant=entry.participant, answers={**ABOUT, **about})


def items_of(study: Study, n: int) -> list[Item]:
    """The first items of the study's dataset."""
    return list(study.dataset_version.items.order_by("index")[:n])


def rated(study: Study, mode: str = Mode.LIVE, **about: Any) -> Participant:
    """Someone who has rated or chosen what they were asked to, and has their list."""
    participant = assigned(study, mode, **about)
    chooses = study.design.is_choice
    for number, item in enumerate(items_of(study, study.design.ratings_asked)):
        ratings.rate_item(participant=participant, item=item, rating=USED if chooses else 1 + number % 5)
    recommending.finish_rating(participant=participant)
    return participant


def answer_item(participant: Participant, rank: int, number: int = 0) -> None:
    """Answer about one item, one of four ways by `number`."""
    answering.answer(participant=participant, question="watched", value=number % 4 == 0, rank=rank)
    if number % 4:
        answering.answer(participant=participant, question="heard", value=number % 4 == 1, rank=rank)
        if any(question["key"] == "trailer_seen" for question in participant.study.questionnaire["items"]):
            answering.answer(participant=participant, question="trailer_seen", value=number % 4 == 2, rank=rank)
    answering.answer(participant=participant, question="rating", value=1 + number % 5, rank=rank)


def completed(study: Study, mode: str = Mode.LIVE, number: int = 0, **about: Any) -> Participant:
    """Someone who has answered everything."""
    participant = rated(study, mode, **about)
    finishing.leave_page(participant=participant, at=Place("recommendations"))
    for rank in range(1, study.design.list_length + 1):
        answer_item(participant, rank, number + rank)
        answering.finish_item(participant=participant, rank=rank)
    answering.answer(participant=participant, question="satisfaction", value=1 + number % 5)
    answering.answer(participant=participant, question="comment", value="=1+1, fine")
    answering.finish(participant=participant)
    return participant

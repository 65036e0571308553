"""Time and memory of a report: computing it, rendering its page, and writing its files.

    python benchmarks/report.py [--per-condition 30,3000] [--database URL] [--profile] [--var DIR]

Makes a study of the demo's seven algorithms with that many simulated participants in each, in process: each uses
the ratings of a reserved user, gets the list that the condition's model serves for a profile drawn from them, and
answers by the answer model. No page is opened and no request made. With more participants than reserved users, several
participants use the same user. Then the report is built with every interval and permutation that
it prints, drawn, and written to a temporary folder. What is prepared is kept in --var, so that a second run begins
at once.
"""

# ruff: noqa: PLC0415 -- Django is set up once the options are read, and what needs it is imported after that
from __future__ import annotations

import argparse
import cProfile
import os
import platform
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DEMO_ALGORITHMS = "toppop,corngr,nncosngr,asysvd,puresvd:factors=10,puresvd:factors=50,lsa"
GOALS = {30: 5.0, 3000: 30.0}  # seconds for the report's numbers, by participants in a condition
VIEW_GOAL = 0.3  # seconds of a page that was drawn before, 30 in a condition
PEOPLE_AT_ONCE = 500
SLOWEST = 40  # lines of a profile


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--per-condition", default="30,3000", help="participants in each condition, one or several")
    options.add_argument("--database", default="", help="postgresql://…; SQLite unless given")
    options.add_argument("--var", type=Path, default=Path(tempfile.gettempdir()) / "parallax-report-benchmark")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--profile", action="store_true", help="print where the time went")
    options.add_argument("--no-files", action="store_true", help="compute and draw the page only")
    chosen = options.parse_args()
    os.environ["PARALLAX_VAR"] = str(chosen.var)
    os.environ["DJANGO_SETTINGS_MODULE"] = "parallax.settings"
    if chosen.database:
        os.environ["DATABASE_URL"] = chosen.database
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0, interactive=False)
    print(
        f"{connection.vendor}, Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    is_good = True
    for n in (int(text) for text in chosen.per_condition.split(",")):
        is_good &= _measured(n, chosen)
    sys.exit(0 if is_good else 1)


def _study(per_condition: int, seed: int) -> Any:
    """The study of that size: the one of an earlier run, or a new one with its simulated participants."""
    from django.core.management import call_command

    from accounts.models import User
    from accounts.services import create_account
    from catalog.models import DatasetVersion
    from catalog.services import load_demo_dataset
    from evaluation.selectors.runs import newest_succeeded_run
    from studies.models import Study

    slug = f"report-{per_condition}-{seed}"
    study = Study.objects.filter(slug=slug).first()
    if study is not None and study.participants.count() == per_condition * study.conditions.count():
        return study
    owner = User.objects.order_by("pk").first() or create_account(email="bench@example.org", name="Benchmark")[0]
    version = DatasetVersion.objects.filter(dataset__name="demo-films").first()
    version = version or load_demo_dataset(seed=1, owner=owner)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 -- a device
        if newest_succeeded_run(version) is None:
            print("Preparing the demo's models …", flush=True)
            call_command(
                "evaluate", "demo-films", algorithms=DEMO_ALGORITHMS, split="probe:share=0.1", reserve=0.15,
                protocol="one-plus-random", negatives=1000, n=5, relevant=5.0, irrelevant=1.0, seed=1, workers=2,
                stdout=nowhere,
            )  # fmt: skip
        run = newest_succeeded_run(version)
        if study is None:
            call_command(
                "create_study", slug, template="cremonesi-2011", dataset="demo-films", run=run.pk,
                per_condition=30, seed=seed, owner=owner.email, stdout=nowhere,
            )  # fmt: skip
            call_command("launch_study", slug, stdout=nowhere)
    study = Study.objects.get(slug=slug)
    study.participants.all().delete()
    print(f"Making {per_condition} simulated participants in each condition …", flush=True)
    _people(study, per_condition, seed)
    return study


def _people(study: Any, per_condition: int, seed: int) -> None:
    """Simulated participants who have completed, written by the hundred."""
    from core.provenance import rng_for
    from studies.simulation.services.pilot import pool_of

    pool, length = pool_of(study), study.design.list_length
    conditions = list(study.conditions.select_related("model").order_by("position"))
    version = study.versions.last()
    people: list[tuple[Any, Any]] = []
    for number in range(per_condition * len(conditions)):
        condition = conditions[number % len(conditions)]
        rng = rng_for(seed, "report-benchmark", number)
        people.append((_participant(study, version, condition, number), (condition, pool, length, rng)))
        if len(people) == PEOPLE_AT_ONCE:
            _write(people)
            people = []
    _write(people)


def _participant(study: Any, version: Any, condition: Any, number: int) -> Any:
    from django.utils import timezone

    from studies.enums import Mode, ParticipantStatus
    from studies.models import Participant

    now, digest = timezone.now(), f"{study.pk:08d}{number:056d}"
    return Participant(
        study=study, version=version, code=f"bench-{number:06d}", token_digest=digest, entry_key=digest,
        mode=Mode.SIMULATED, status=ParticipantStatus.COMPLETED, step="thanks", condition=condition,
        consented_at=now, assigned_at=now, completed_at=now, last_seen_at=now,
    )  # fmt: skip


def _write(people: list[tuple[Any, Any]]) -> None:
    from django.db import transaction

    from studies.models import Participant, RecommendationList, RecommendedItem, Response

    with transaction.atomic():
        participants = Participant.objects.bulk_create([participant for participant, _ in people])
        walked = [_answers(*how) for _, how in people]
        lists = RecommendationList.objects.bulk_create(
            RecommendationList(
                participant=participant,
                condition_id=participant.condition_id,
                model_digest=how[0].model_digest,
                seconds=0.0,
            )
            for participant, (_, how) in zip(participants, people, strict=True)
        )
        RecommendedItem.objects.bulk_create(
            RecommendedItem(recommendation_list=shown, rank=rank, item_id=item, score=score, is_filled=is_filled)
            for shown, (slots, _) in zip(lists, walked, strict=True)
            for rank, (item, score, is_filled) in enumerate(slots, start=1)
        )
        Response.objects.bulk_create(
            Response(participant=participant, question=question, rank=rank, value=answer.value,
                     provenance=answer.provenance)
            for participant, (_, answers) in zip(participants, walked, strict=True)
            for question, rank, answer in answers
        )  # fmt: skip


def _answers(condition: Any, pool: Any, length: int, rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """One participant's list, and what they answer about it."""
    from evaluation.services.serving import recommend
    from studies.simulation.answer_model import SimulatedPerson

    user = list(pool.users.values())[int(rng.integers(len(pool.users)))]
    person = SimulatedPerson(user, pool.training, rng)
    profile = sorted(person.profile(pool.requested.fewest).items())
    served = recommend(
        model=condition.model, items=[item for item, _ in profile], ratings=[float(stars) for _, stars in profile],
        scale=(1.0, 5.0, 1.0), n=length,
    )  # fmt: skip
    slots = [
        (pool.item_ids[item], score, is_filled)
        for item, score, is_filled in zip(served.items, served.scores, served.is_filled, strict=True)
    ]
    answers = [
        (question, rank, answer)
        for rank, item in enumerate(served.items, start=1)
        for question, answer in person.about_item(item).items()
    ]
    return slots, [*answers, ("satisfaction", 0, person.satisfaction())]


COLD = """
import os, time
import django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.test import Client
from analysis.models import Report
report = Report.objects.get(pk={pk})
client = Client()
client.force_login(report.study.memberships.get(role="owner").researcher)
client.get("/health/")
began = time.perf_counter()
answer = client.get(report.get_absolute_url())
assert answer.status_code == 200
print(time.perf_counter() - began)
"""


def _in_a_fresh_process(pk: int) -> float:
    """Seconds that a view of a report takes where nothing has been drawn or read yet."""
    done = subprocess.run([sys.executable, "-c", COLD.format(pk=pk)], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _measured(per_condition: int, chosen: argparse.Namespace) -> bool:
    from analysis.files.listing import Outputs, write_report
    from analysis.models import Drawing, Report
    from analysis.services import build_report
    from analysis.services.report_cache import page_of

    study = _study(per_condition, chosen.seed)
    Report.objects.filter(study=study).delete()
    n = study.participants.count()
    print(f"\n{study.conditions.count()} conditions of {per_condition}, {n:,} simulated participants")
    steps = _Steps()
    report, seconds = _timed("numbers", lambda: build_report(study=study, progress=steps), chosen.profile)
    steps("")
    for words, took in sorted(steps.took.items(), key=lambda line: -line[1])[:8]:
        print(f"      {took:8.2f} s  {words}")
    Drawing.objects.filter(report=report).delete()
    page, _ = _timed("page, first view", lambda: page_of(report), chosen.profile)
    print(f"      {len(page.body.encode()) / 1e6:.1f} MB")
    _timed("page, second view", lambda: page_of(report), False)
    seconds_cold = _in_a_fresh_process(report.pk)
    print(f"  {'the same, asked of a process that has just started':<52}{seconds_cold:.2f} s (goal {VIEW_GOAL:g} s)")
    html, _ = _timed("self-contained HTML", Outputs(report).files()[0].make, chosen.profile)
    print(f"      {len(html) / 1e6:.1f} MB")
    if not chosen.no_files:
        with tempfile.TemporaryDirectory() as folder:
            files, _ = _timed(
                "all files", lambda: write_report(report=report, folder=Path(folder), progress=lambda words: None),
                chosen.profile,
            )  # fmt: skip
            print(f"      {len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  peak memory of the process so far: {peak:.0f} MB")
    goal = GOALS.get(per_condition)
    if goal is None:
        return True
    print(f"  goal for the numbers: {goal:g} s, {'reached' if seconds <= goal else 'MISSED'}", flush=True)
    return seconds <= goal


class _Steps:
    """Times what a report says it is doing."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        self._doing, self._since = "", time.perf_counter()

    def __call__(self, words: str) -> None:
        now = time.perf_counter()
        if self._doing:
            self.took[self._doing] = self.took.get(self._doing, 0.0) + now - self._since
        self._doing, self._since = words, now


def _timed(label: str, work: Callable[[], Any], is_profiled: bool) -> tuple[Any, float]:
    profile = cProfile.Profile() if is_profiled else None
    started, processor = time.perf_counter(), time.process_time()
    result = profile.runcall(work) if profile else work()
    seconds = time.perf_counter() - started
    print(f"  {label:<22}{seconds:8.2f} s  ({time.process_time() - processor:.2f} s of processors)", flush=True)
    if profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(SLOWEST)
    return result, seconds


if __name__ == "__main__":
    main()

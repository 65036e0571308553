"""A study under load: simulated participants who walk it at full speed, and open ones who take their time.

    python benchmarks/study_load.py walk [--per-condition 30] [--parallel 16] [--database URL]
    python benchmarks/study_load.py open [--participants 200] [--seconds 300] [--database URL]
    python benchmarks/study_load.py planted [--shift 0.8] [--per-condition 30]

All make the demo's study, start the web server that `manage.py up` starts, and load it from this process, on the
same cores. `walk` checks that no participant is lost, that every condition reaches its target and that exports are
complete. `open` lets that many people stay on the pages with 3 to 8 s between two requests of theirs, each after
the script's batch of events, and compares every answer that the server took with what is stored. `planted` has one
and the same model in all conditions and shifts perceived accuracy in one: its report has to find that one, maximal.
What is prepared is kept in --var, so that a second run begins at once.
"""

# ruff: noqa: PLC0415 -- Django is set up once the options are read, and what needs it is imported after that
from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ARRIVE_SECONDS = 30.0  # in which the open participants come; measured too
THINKS = (3.0, 8.0)  # seconds between two requests of an open participant
DEMO_ALGORITHMS = "toppop,corngr,nncosngr,asysvd,puresvd:factors=10,puresvd:factors=50,lsa"
GOAL_WALK_SECONDS, GOAL_P95_MS, LEAST_REQUESTS = 60.0, 100.0, 40


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("walk", "open", "planted"))
    options.add_argument("--per-condition", type=int, default=30)
    options.add_argument("--parallel", type=int, default=16)
    options.add_argument("--participants", type=int, default=200)
    options.add_argument("--seconds", type=float, default=300.0)
    options.add_argument("--database", default="", help="postgresql://…; SQLite unless given")
    options.add_argument("--var", type=Path, default=Path(tempfile.gettempdir()) / "parallax-study-load")
    options.add_argument("--port", type=int, default=8790)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--shift", type=float, default=0.8, help="of perceived accuracy, in points")
    chosen = options.parse_args()
    prepare(chosen)
    with study_and_server(chosen) as (study, url):
        is_good = {"walk": _walk, "open": _open, "planted": _planted}[chosen.what](study, url, chosen)
    sys.exit(0 if is_good else 1)


def prepare(chosen: argparse.Namespace) -> None:
    """Set Django up for an installation in --var, or on the database that was named."""
    os.environ["PARALLAX_VAR"] = str(chosen.var)
    os.environ["DJANGO_SETTINGS_MODULE"] = "parallax.settings"
    if chosen.database:
        os.environ["DATABASE_URL"] = chosen.database
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import django

    django.setup()


def new_study(chosen: argparse.Namespace, algorithms: str = DEMO_ALGORITHMS) -> Any:
    """A launched study of its own on the demo's models; the models are trained once."""
    from django.core.management import call_command

    from accounts.models import User
    from accounts.services import create_account
    from catalog.models import DatasetVersion
    from catalog.services import load_demo_dataset
    from evaluation.selectors.runs import newest_succeeded_run
    from studies.models import Study
    from studies.recruitment.services.recruitment import set_limits

    call_command("migrate", verbosity=0, interactive=False)
    owner = User.objects.order_by("pk").first() or create_account(email="load@example.org", name="Load")[0]
    version = DatasetVersion.objects.filter(dataset__name="demo-films").first()
    version = version or load_demo_dataset(seed=1, owner=owner)
    if newest_succeeded_run(version) is None:
        print("Preparing the demo's models …", flush=True)
        call_command(
            "evaluate", "demo-films", algorithms=algorithms, split="probe:share=0.1", reserve=0.15,
            protocol="one-plus-random", negatives=1000, n=5, relevant=5.0, irrelevant=1.0, seed=1, workers=2,
            stdout=open(os.devnull, "w"),  # noqa: PTH123, SIM115
        )  # fmt: skip
    slug = f"load-{Study.objects.count() + 1}"
    room = 10 * chosen.participants if chosen.what == "open" else chosen.per_condition
    quiet = {"stdout": open(os.devnull, "w")}  # noqa: PTH123, SIM115
    run = newest_succeeded_run(version)
    call_command(
        "create_study", slug, template="cremonesi-2011", dataset="demo-films", run=run.pk, per_condition=room,
        seed=chosen.seed, owner=owner.email, **quiet,
    )  # fmt: skip
    if chosen.what == "planted":
        conditions = Study.objects.get(slug=slug).conditions
        first = conditions.order_by("position").first()
        conditions.update(model=first.model, model_digest=first.model_digest)
    call_command("launch_study", slug, **quiet)
    if chosen.what in ("open", "mixed"):  # all participants come from one network
        set_limits(study=Study.objects.get(slug=slug), most_per_network=100_000, pause_at=100_000)
    return Study.objects.get(slug=slug)


def study_and_server(chosen: argparse.Namespace) -> Any:
    """A launched study of its own on the demo's models, and the server that `up` starts."""
    from contextlib import contextmanager

    from django.db import connection

    from parallax.children import Children

    @contextmanager
    def prepared() -> Any:
        study = new_study(chosen)
        with Children(port=chosen.port, workers=0) as children:
            print(
                f"{connection.vendor} {_database_version(connection)}, Python {platform.python_version()}, "
                f"{os.cpu_count()} cores, {children.web_workers} web processes of {children.threads} threads; "
                "client on the same cores",
                flush=True,
            )
            yield study, children.url

    return prepared()


def _database_version(connection: Any) -> str:
    question = "SELECT sqlite_version()" if connection.vendor == "sqlite" else "SHOW server_version"
    with connection.cursor() as cursor:
        cursor.execute(question)
        return str(cursor.fetchone()[0])


def integrity_findings() -> int:
    from parallax.integrity.all_checks import findings

    problems = list(findings(lambda words: None))
    for finding in problems:
        print(f"  {finding.code} in {finding.where}: {finding.what}")
    return len(problems)


def _walk(study: Any, url: str, chosen: argparse.Namespace) -> bool:
    from studies.data.exports.export_files import write_export
    from studies.data.exports.tables import Options
    from studies.enums import Mode
    from studies.simulation.services import pilot

    walks: list[Any] = []
    walk_one = pilot._walk_one
    pilot._walk_one = lambda *args, **kwargs: walks.append(walk_one(*args, **kwargs)) or walks[-1]
    started, cpu = time.perf_counter(), time.process_time()
    end = pilot.walk_group(
        study=study, per_condition=chosen.per_condition, seed=chosen.seed, base_url=url, parallel=chosen.parallel,
        progress=lambda progress: None,
    )  # fmt: skip
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    people = study.participants.filter(mode=Mode.SIMULATED)
    completed = Counter(people.filter(status="completed").values_list("condition__label", flat=True))
    requests = sorted(walk.n_requests for walk in walks)
    looked = [people_events(study, walk.code) for walk in walks]
    with tempfile.TemporaryDirectory() as name:
        files = write_export(study, "wide", Path(name), Options(include_simulated=True))
        n_rows = next(file.n_rows for file in files if file.name.endswith("wide_data.csv"))
    print(
        f"{end.finished} of {end.total} participants in {seconds:.1f} s (goal {GOAL_WALK_SECONDS:g}), {end.n_requests} "
        f"requests, {end.n_requests / seconds:.0f} a second; client {cpu:.1f} s of processor"
    )
    print(
        f"requests each: {requests[0]} to {requests[-1]} (at least {LEAST_REQUESTS}); searches and details each: at "
        f"least {min(looked)}; rows exported: {n_rows}; by condition: {dict(completed)}"
    )
    print(f"check_integrity: {integrity_findings()} findings")
    return (
        end.finished == end.total == n_rows == people.count()
        and set(completed.values()) == {chosen.per_condition}
        and requests[0] >= LEAST_REQUESTS
        and min(looked) >= 5
        and seconds <= GOAL_WALK_SECONDS
    )


def _planted(study: Any, url: str, chosen: argparse.Namespace) -> bool:
    from analysis.services import build_report
    from studies.simulation.services import pilot

    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    shifted = labels[len(labels) // 2]
    pilot.walk_group(
        study=study, per_condition=chosen.per_condition, seed=chosen.seed, base_url=url, parallel=chosen.parallel,
        progress=lambda progress: None, effects={shifted: {"accuracy": chosen.shift}},
    )  # fmt: skip
    report = build_report(study=study, mode="simulated")
    accuracy = next(variable for variable in report.results["variables"] if variable["key"] == "accuracy")
    means = {name: accuracy["described"][name]["mean"] for name in labels}
    order, anova = accuracy["orders"]["tukey"], accuracy["anova"]
    print(f"planted in {shifted}: perceived accuracy {chosen.shift:+g}; all conditions serve one model")
    print("means: " + ", ".join(f"{name} {mean:.2f}" for name, mean in means.items()))
    best = [name for name, tier in order["tiers"].items() if tier == "maximal"]
    print(f"F = {anova['f']:.2f}, p = {anova['p']:.2g}; maximal: {', '.join(best) or 'none'}")
    print(f"check_integrity: {integrity_findings()} findings")
    return order["tiers"][shifted] == "maximal" and max(means, key=lambda name: means[name]) == shifted


def people_events(study: Any, code: str) -> int:
    from studies.models import Event

    return Event.objects.filter(
        participant__study=study, participant__code=code, kind__in=("search", "details_opened")
    ).count()


def _open(study: Any, url: str, chosen: argparse.Namespace) -> bool:
    import httpx
    import numpy as np
    from timed_browser import MeasurementOver, TimedTransport, Walks, start_threads

    from core.provenance import rng_for
    from studies.models import ProfileRating

    walks = Walks(study, url)
    took: dict[str, list[float]] = defaultdict(list)
    over = threading.Event()

    def record(request: httpx.Request, is_script: bool, seconds: float) -> None:
        took["events" if is_script else f"{request.method} {_page_of(request.url.path)}"].append(seconds)

    def stay(number: int) -> None:
        """One browser: people come one after the other, until the measurement ends."""
        rng = rng_for(chosen.seed, "open", study.slug, number)

        def pause() -> None:
            if over.wait(rng.uniform(*THINKS)):
                raise MeasurementOver

        over.wait(rng.uniform(0, ARRIVE_SECONDS))
        while not over.is_set():
            try:
                code = walks.run(number, rng, TimedTransport(pause, record))
            except MeasurementOver:
                return
            if not code:
                return

    started = time.perf_counter()
    threads = start_threads(stay, chosen.participants)
    over.wait(chosen.seconds)
    over.set()
    for thread in threads:
        thread.join(timeout=70)
    seconds = time.perf_counter() - started
    lost, problems = walks.lost_answers(), walks.problems
    ratings = ProfileRating.objects.filter(participant__study=study).count()
    everything = np.array([duration for kind, times in took.items() if kind != "events" for duration in times])
    offered = chosen.participants / (sum(THINKS) / 2)
    print(
        f"{chosen.participants} open participants who came within {ARRIVE_SECONDS:g} s, {THINKS[0]:g} to "
        f"{THINKS[1]:g} s between requests, {seconds:.0f} s: offered {offered:.1f} requests a second, achieved "
        f"{len(everything) / seconds:.1f}, and "
        f"{len(took['events']) / seconds:.1f} batches of events"
    )
    print(f"{'page':<28}{'n':>7}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'max ms':>9}")
    for name, times in [("all pages", everything), *sorted(took.items())]:
        p50, p95, p99 = np.percentile(1000 * np.array(times), [50, 95, 99])
        print(f"{name:<28}{len(times):>7}{p50:>9.1f}{p95:>9.1f}{p99:>9.1f}{1000 * max(times):>9.1f}")
    print(
        f"answers taken: {len(walks.answered)}, lost or different: {len(lost)}; ratings stored: {ratings}; "
        f"participants: {study.participants.count()}, of them completed "
        f"{study.participants.filter(status='completed').count()}; problems: {problems[:3] or 'none'}"
    )
    print(f"check_integrity: {integrity_findings()} findings")
    p95 = float(np.percentile(1000 * everything, 95))
    print(f"p95 over all pages {p95:.0f} ms (goal {GOAL_P95_MS:g})")
    return p95 <= GOAL_P95_MS and not lost and not problems


def _page_of(path: str) -> str:
    """The page of an address, without the token and numbers."""
    parts = path.strip("/").split("/")
    return (
        parts[3] if parts[:2] == ["s", "p"] and len(parts) > 3 else "resume" if parts[:2] == ["s", "p"] else "consent"
    )


if __name__ == "__main__":
    main()

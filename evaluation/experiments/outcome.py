"""What came of an experiment, in tables and sentences, whatever it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.experiments.document import Block, Grid, Heading, Picture, Points, Text
from evaluation.experiments.judging import Finding, Judgement, Numbers, shown
from evaluation.experiments.schema import NEEDS, ORIGINS, Experiment, Place, PlannedRun, Table


@dataclass(frozen=True)
class RunFacts:
    """What a finished run was made of, for people to find it again.

    `reasons` says by algorithm and metric why there is no value, or what to mind about it.
    """

    number: int
    inputs_hash: str
    n_relevant: int
    n_irrelevant: int
    left_out: Mapping[str, int]
    counted: Mapping[str, int]
    comments: tuple[str, ...]
    reasons: Mapping[tuple[str, str], str]
    candidates: str = ""  # beside each hidden rating, in words, where the protocol draws them


@dataclass(frozen=True)
class DatasetFacts:
    """The dataset an experiment was run on."""

    name: str
    title: str
    content_hash: str
    n_users: int
    n_items: int
    n_ratings: int


def grid_of(experiment: Experiment, table: Table, numbers: Numbers) -> Grid:
    """A table of the experiment with its numbers; algorithms that none of its runs has are left out.

    Parameters
    ----------
    experiment : Experiment
    table : Table
    numbers : mapping

    Returns
    -------
    Grid
    """
    places = table.columns.values()
    names = [
        name for name in experiment.contenders if any(name in experiment.runs[place.run].contenders for place in places)
    ]
    rows = tuple((name, *(shown(numbers.get((place, name))) for place in places)) for name in names)
    return Grid(table.title, ("algorithm", *table.columns), rows)


def document(
    experiment: Experiment,
    dataset: DatasetFacts,
    judgements: Sequence[Judgement],
    numbers: Numbers,
    pictures: Sequence[Picture],
    runs: Mapping[str, RunFacts],
) -> list[Block]:
    """The whole outcome: claims first, then tables, figures, what others found, and what it was run with.

    Parameters
    ----------
    experiment : Experiment
    dataset : DatasetFacts
    judgements : sequence of Judgement
    numbers : mapping
    pictures : sequence of Picture
    runs : mapping of str to RunFacts

    Returns
    -------
    list of Block
    """
    blocks: list[Block] = [
        Heading(experiment.title, 1),
        Text(experiment.question),
        Text(f"After {experiment.source}."),
        Text(
            f"Run on {dataset.title} ({dataset.name}): {dataset.n_users:,} users, {dataset.n_items:,} items, "
            f"{dataset.n_ratings:,} ratings or uses, content {dataset.content_hash[:12]}. The experiment needs "
            f"{NEEDS[experiment.needs]}. {experiment.data}"
        ),
        Heading("What came out"),
        Text(summary(judgements)),
        *(block for judgement in judgements for block in _judgement(judgement, experiment)),
        Heading("Tables"),
        *(grid_of(experiment, table, numbers) for table in experiment.tables),
    ]
    if pictures:
        blocks += [Heading("Figures"), *pictures]
    if experiment.notes:
        blocks += [Heading("What was found elsewhere"), *_notes(experiment)]
    blocks += [Heading("How it was run")]
    for key, plan in experiment.runs.items():
        blocks += _run(plan, runs[key], experiment)
    return blocks


def summary(judgements: Sequence[Judgement]) -> str:
    """How many claims came out, in a sentence.

    Parameters
    ----------
    judgements : sequence of Judgement

    Returns
    -------
    str

    Examples
    --------
    >>> summary([])
    'The experiment states no claims; its tables stand for themselves.'
    """
    if not judgements:
        return "The experiment states no claims; its tables stand for themselves."
    counts = {verdict: sum(one.verdict == verdict for one in judgements) for verdict in ("came out", "cannot be said")}
    text = f"Of {len(judgements)} claims {counts['came out']} came out on these data."
    if counts["cannot be said"]:
        text += f" Of {counts['cannot be said']} it cannot be said, as a number is missing."
    return f"{text} One dataset and one seed are no proof, either way."


def _judgement(judgement: Judgement, experiment: Experiment) -> list[Block]:
    claim = judgement.claim
    heading = Heading(f"{judgement.verdict[:1].upper()}{judgement.verdict[1:]}: {claim.says}", 3)
    origin = ORIGINS[claim.origin]
    points = tuple(_finding(one, experiment) for one in judgement.findings)
    return [heading, Text(f"{origin[:1].upper()}{origin[1:]} ({claim.where})."), Points(points)]


def _finding(finding: Finding, experiment: Experiment) -> str:
    how = {True: "as claimed", False: "not as claimed", None: "cannot be said"}[finding.holds]
    test = ""
    if finding.p is not None:
        test = f"; by user, one-sided sign test p {'< .001' if finding.p < 0.001 else '= ' + shown(finding.p)}"
    return f"{where(finding.place, experiment)}: {finding.words} ({how}{test})."


def where(place: Place, experiment: Experiment) -> str:
    """A place in words; the run is named where there are several.

    Parameters
    ----------
    place : Place
    experiment : Experiment

    Returns
    -------
    str
    """
    run = f", {experiment.runs[place.run].title}" if len(experiment.runs) > 1 else ""
    profile = f", profiles of {place.profile_length}" if place.profile_length else ""
    return f"{place.metric}{run}{profile}"


def _notes(experiment: Experiment) -> list[Block]:
    blocks: list[Block] = []
    for note in experiment.notes:
        if note.says:
            blocks.append(Text(f"{note.where}: {note.says}"))
        if note.rows:
            rows = tuple((name, *map(shown, line)) for name, line in note.rows.items())
            blocks.append(Grid(note.where, ("algorithm", *note.columns), rows))
    return blocks


def _run(plan: PlannedRun, facts: RunFacts, experiment: Experiment) -> list[Block]:
    said = [
        f"Run {facts.number}, inputs {facts.inputs_hash[:12]}, seed {experiment.seed}.",
        f"Split {_settings(plan.split)}; protocol {_settings(plan.protocol)}; n = {plan.n}.",
        f"{facts.n_relevant:,} relevant and {facts.n_irrelevant:,} irrelevant cases.",
    ]
    if facts.candidates:
        said.append(f"Each hidden rating was ranked among {facts.candidates} items its user had not rated.")
    for heading, counts in (("Left out", facts.left_out), ("Counted", facts.counted)):
        listed = "; ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        if listed:
            said.append(f"{heading}: {listed}.")
    said += [f"{name}, {metric}: {reason}." for (name, metric), reason in facts.reasons.items()]
    said += dict.fromkeys(facts.comments)
    algorithms = "; ".join(
        f"{name} is {_settings({'name': one.algorithm, **one.params})}"
        for name, one in experiment.contenders.items()
        if name in plan.contenders
    )
    return [Heading(plan.title, 3), Points((*said, f"Algorithms: {algorithms}."))]


def _settings(settings: Mapping[str, object]) -> str:
    options = ", ".join(f"{name} {value}" for name, value in settings.items() if name != "name")
    return f"{settings['name']} ({options})" if options else str(settings["name"])

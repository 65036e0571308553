"""The outcome of an experiment, in tables and sentences, whatever it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.experiments.document import Block, Grid, Heading, Picture, Points, Text
from evaluation.experiments.judging import Finding, Judgement, Numbers, shown
from evaluation.experiments.schema import NEEDS, ORIGINS, Experiment, Place, PlannedRun, Table

SYNTHETIC = (
    "Synthetic ratings: a program made these data, so every number below describes that program and is no evidence "
    "about people."
)
RULE = (
    "A claim is judged by tests over users, not by which number is larger. A comparison supports a claim where the 95% "
    "interval of the difference (jackknife over 20 groups of users) lies wholly on the claimed side and, where the "
    "metric has a value for each user, the one-sided sign test is significant at .05; it contradicts the claim where "
    "both are significant the other way. A claim holds where all its comparisons support it, does not hold where one "
    "contradicts it, and could not be decided otherwise: where the two tests disagree, and where a difference is not "
    "significant, which is no evidence for a claim or against it."
)


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
    is_synthetic: bool

    @property
    def data_note(self) -> str:
        """What the title of every table and figure adds where the ratings are not those of people."""
        return " (synthetic ratings)" if self.is_synthetic else ""


def grid_of(experiment: Experiment, table: Table, numbers: Numbers, dataset: DatasetFacts) -> Grid:
    """A table of the experiment with its numbers; algorithms that none of its runs has are left out.

    Parameters
    ----------
    experiment : Experiment
    table : Table
    numbers : mapping
    dataset : DatasetFacts

    Returns
    -------
    Grid
    """
    places = table.columns.values()
    names = [
        name for name in experiment.contenders if any(name in experiment.runs[place.run].contenders for place in places)
    ]
    rows = tuple((name, *(shown(numbers.get((place, name))) for place in places)) for name in names)
    return Grid(f"{table.title}{dataset.data_note}", ("algorithm", *table.columns), rows)


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
    blocks: list[Block] = [Heading(f"{experiment.title}{dataset.data_note}", 1)]
    if dataset.is_synthetic:
        blocks.append(Text(SYNTHETIC))
    blocks += [
        Text(experiment.question),
        Text(f"After {experiment.source}."),
        Text(
            f"Run on {dataset.title} ({dataset.name}): {dataset.n_users:,} users, {dataset.n_items:,} items, "
            f"{dataset.n_ratings:,} ratings or uses, content {dataset.content_hash[:12]}. The experiment needs "
            f"{NEEDS[experiment.needs]}. {experiment.data}"
        ),
        Heading("Claims"),
        Text(summary(judgements)),
        *([Text(RULE)] if judgements else []),
        *(block for judgement in judgements for block in _judgement(judgement, experiment)),
        Heading("Tables"),
        *(grid_of(experiment, table, numbers, dataset) for table in experiment.tables),
    ]
    if pictures:
        blocks += [Heading("Figures"), *pictures]
    if experiment.notes:
        blocks += [Heading("Results elsewhere"), *_notes(experiment)]
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
    'The experiment states no claims.'
    """
    if not judgements:
        return "The experiment states no claims."
    verdicts = [one.verdict for one in judgements]
    n_held, n_failed = verdicts.count("holds"), verdicts.count("does not hold")
    n_open = len(verdicts) - n_held - n_failed
    return (
        f"Of {len(verdicts)} claim{'' if len(verdicts) == 1 else 's'}, {n_held} {'holds' if n_held == 1 else 'hold'}, "
        f"{n_failed} {'does' if n_failed == 1 else 'do'} not hold and {n_open} could not be decided on these data. One "
        "dataset and one seed are no proof, either way."
    )


def _judgement(judgement: Judgement, experiment: Experiment) -> list[Block]:
    claim = judgement.claim
    heading = Heading(f"{judgement.verdict[:1].upper()}{judgement.verdict[1:]}: {claim.says}", 3)
    origin = ORIGINS[claim.origin]
    reading = f" Read here as: {claim.read_as}" if claim.read_as else ""
    points = tuple(_finding(one, experiment) for one in judgement.findings)
    return [heading, Text(f"{origin[:1].upper()}{origin[1:]} ({claim.where}).{reading}"), Points(points)]


def _finding(finding: Finding, experiment: Experiment) -> str:
    parts = [finding.words]
    if finding.span is not None:
        span = finding.span
        difference = f"difference {shown(span.value)}, " if span.of == "difference" else ""
        parts.append(f"{difference}{100 * span.confidence:.4g}% CI [{shown(span.low)}, {shown(span.high)}]")
    if finding.p is not None:
        parts.append(f"one-sided sign test by user, p {'< .001' if finding.p < 0.001 else '= ' + shown(finding.p)}")
    if not finding.is_tested:
        parts.append("no test by user")
    decision = {True: "supports the claim", False: "contradicts the claim", None: "undecided"}[finding.holds]
    return f"{where(finding.place, experiment)}: {'; '.join(parts)} ({decision})."


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

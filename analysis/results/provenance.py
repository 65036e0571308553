"""Every hash, seed and version behind the numbers of a report."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.results.codec import stored


@dataclass(frozen=True, kw_only=True)
class ConditionDigest:
    """The digest of a condition's model."""

    condition: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class RunDigest:
    """The digest of what the run measured of one model at one profile length."""

    profile_length: int
    condition: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The inputs of a report; `repetitions` are digests of the inputs and the results of each repetition of its run,
    `metric_runs` the same of each run of another protocol whose metrics the report compares. `sample_digest` is of all
    that the description of the participants rests on.
    """

    design_hash: str
    dataset: str
    dataset_version: int
    dataset_hash: str
    is_dataset_synthetic: bool
    models: tuple[ConditionDigest, ...]
    answers_digest: str
    run_inputs_hash: str
    run_cases_digest: str
    run_results: tuple[RunDigest, ...]
    mode: str
    study_seed: int
    run_seed: int
    bootstrap_seeds: tuple[tuple[str, int], ...]
    versions: tuple[tuple[str, str], ...]
    pilot_design: str = field(default="", metadata=stored(is_omitted=True))
    repetitions: tuple[tuple[str, str], ...] = field(default=(), metadata=stored(is_omitted=True))
    sample_digest: str = field(default="", metadata=stored(is_omitted=True))
    metric_runs: tuple[tuple[str, str], ...] = field(default=(), metadata=stored(is_omitted=True))
    completers_digest: str = field(default="", metadata=stored("everybody_digest", is_omitted=True))

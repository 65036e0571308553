"""Datasets, runs, models, studies and reports of a site."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from parallax_client.low.api.datasets import dataset, dataset_create, datasets
from parallax_client.low.api.models import model, model_recommendations, model_upload, models
from parallax_client.low.api.reports import report, report_build, report_numbers, reports
from parallax_client.low.api.runs import run, run_cancel, run_create, run_proposals, run_results, run_resume, runs
from parallax_client.low.api.studies import (
    studies,
    study,
    study_archive,
    study_close,
    study_conditions,
    study_conditions_replace,
    study_create,
    study_delete,
    study_design,
    study_design_change,
    study_duplicate,
    study_launch,
    study_open_outcomes,
    study_overview,
    study_pause,
    study_preregistration,
    study_questionnaire,
    study_questionnaire_replace,
    study_resume,
    study_simulate,
    study_texts,
    study_texts_change,
)
from parallax_client.low.api.uploads import upload_append, upload_create
from parallax_client.low.models import Job as JobRow
from parallax_client.low.models import UploadRequest
from parallax_client.low.types import File
from parallax_client.site import Connection, Document
from parallax_client.work import Job, Record, Work, act

Row = TypeVar("Row", bound=Record)
PIECE = 8 * 2**20  # bytes of an upload that are sent at once


def _last(job: Job) -> str:
    """The last part of the address of what a job made."""
    return str(job.row.made_url).rstrip("/").rpartition("/")[2]


def _table(site: Connection, path: str, frame: bool, **query: Any) -> Any:
    """A table as a list of dictionaries, or as a data frame, which needs pandas."""
    if not frame:
        return site.get(path, format="json", **query).json()["rows"]
    import pandas as pd

    return pd.read_csv(io.BytesIO(site.get(path, format="csv", **query).content))


class Collection(Generic[Row]):
    """The rows of one kind that the account sees; each is read by its id, name or slug."""

    kind: type[Row]
    listing: ModuleType  # the operations that read all rows, and a single one
    reading: ModuleType

    def __init__(self, site: Connection) -> None:
        self.site = site

    def __iter__(self) -> Iterator[Row]:
        return (self.kind(self.site, row) for row in self.site.every(self.listing))

    def __getitem__(self, key: str | int) -> Row:
        return self.kind(self.site, self.site.call(self.reading, key))


class Dataset(Record):
    """A dataset and its versions."""


class Datasets(Collection[Dataset]):
    """Datasets."""

    kind, listing, reading = Dataset, datasets, dataset

    def upload(self, *paths: str | Path, name: str, **choices: Any) -> Job:
        """Upload files and import them; `choices` are those of the API: title, recipe, roles, answers, fix, item_type.

        A broken connection loses nothing: the same call goes on where it ended. `wait()` returns the dataset, or the
        job while there is something to choose.
        """
        keys = [self._sent(Path(path)) for path in paths]
        row = self.site.call(dataset_create, body=Document(uploads=keys, name=name, **choices))
        return Job(self.site, row, lambda _job: self[name])

    def _sent(self, path: Path) -> int:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            body = Document(name=path.name, size=path.stat().st_size, sha256=digest)
            row = self.site.call(upload_create, body=body)
            while not row.is_complete:
                file.seek(row.offset)
                piece = File(payload=file.read(PIECE))  # type: ignore[arg-type]  # httpx takes bytes too
                row = self.site.call(upload_append, row.id, body=piece, upload_offset=row.offset)
        return int(row.id)


class Run(Work):
    """A run: algorithms that are trained and measured on a dataset."""

    refresh = act(run, "Read it again.")
    cancel = act(run_cancel, "Cancel it; finished parts are kept for `resume`.")
    resume = act(run_resume, "Do what failed or was cancelled.")

    def results(self) -> dict[str, Any]:
        """Every number of the run with the hashes of its inputs, as one document."""
        return dict(self.site.call(run_results, self.row.id).to_dict())

    def metrics(self, *, frame: bool = False) -> Any:
        """One row per algorithm, profile length, metric and list length."""
        return _table(self.site, f"/api/v1/runs/{self.row.id}/metrics/", frame)

    def users(self, *, frame: bool = False) -> Any:
        """The values by user."""
        return _table(self.site, f"/api/v1/runs/{self.row.id}/users/", frame)

    def cases(self, name: str, path: str | Path) -> Path:
        """Save a file of the cases, for systems elsewhere: cases.npz, train.inter, profiles.inter, cases.qrels."""
        target = Path(path)
        target.write_bytes(self.site.get(f"/api/v1/runs/{self.row.id}/cases/{name}/").content)
        return target


class Runs(Collection[Run]):
    """Runs."""

    kind, listing, reading = Run, runs, run

    def proposals(self, dataset: str) -> dict[str, Any]:
        """Settings that fit a dataset, by key; each has its `spec`, which starts it with the name of the dataset."""
        return dict(self.site.call(run_proposals, dataset=dataset).proposals.additional_properties)

    def create(self, *, dataset: str, proposal: str = "", **settings: Any) -> Run:
        """Start a run: with the settings of a proposal, the first unless named, changed by `settings`."""
        proposed = self.proposals(dataset)
        chosen = proposed[proposal] if proposal else next(iter(proposed.values()))
        body = Document({**chosen.spec.to_dict(), "dataset": dataset, **settings})
        return Run(self.site, self.site.call(run_create, body=body))


class Model(Record):
    """A trained model."""

    def recommend(self, profile: Mapping[str, float], n: int = 5) -> list[Any]:
        """The best items for ratings by the item's id."""
        body = Document(profile=dict(profile), n=n)
        return list(self.site.call(model_recommendations, self.row.id, body=body))


class Models(Collection[Model]):
    """Models."""

    kind, listing, reading = Model, models, model

    def upload(self, path: str | Path, *, dataset: str, kind: str, **options: Any) -> Job:
        """Upload a model that was learned elsewhere; `wait()` returns it."""
        with Path(path).open("rb") as file:
            sent = File(payload=file, file_name=Path(path).name)
            body = UploadRequest(dataset=dataset, kind=kind, file=sent, **options)  # type: ignore[arg-type]
            row = self.site.call(model_upload, body=body)
        return Job(self.site, row, lambda job: self[int(_last(job))])


class Report(Record):
    """A report on a study."""

    def numbers(self) -> dict[str, Any]:
        """Plan, provenance and results, as in report.json."""
        return dict(self.site.call(report_numbers, self.row.id).to_dict())

    def save(self, folder: str | Path, *names: str) -> list[Path]:
        """Save files of the report, all unless named, into a folder; returns their paths."""
        saved = []
        for file in self.site.call(report, self.row.id).files:
            if names and file.name not in names:
                continue
            target = Path(folder) / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.site.get(file.url).content)
            saved.append(target)
        return saved


class Reports(Collection[Report]):
    """Reports."""

    kind, listing, reading = Report, reports, report


class Study(Record):
    """A study."""

    _key = "slug"
    refresh = act(study, "Read it again.")
    launch = act(
        study_launch,
        "Freeze the design and let participants in. Raises Refused with all that keeps it from being launched.",
    )
    pause = act(study_pause, "Let no further participants in for the time being.")
    resume = act(study_resume, "Let participants in again.")
    close = act(study_close, "End the study; its outcomes are unblinded.")
    archive = act(study_archive, "Put it aside.")

    def launch_overview(self) -> Any:
        """What is `needed` for the launch, worth settling before (`advice`), and frozen by it (`facts`)."""
        return self.site.call(study_overview, self.row.slug)

    def duplicate(self, **fields: Any) -> Study:
        """A new draft with the same design."""
        return Study(self.site, self.site.call(study_duplicate, self.row.slug, body=Document(fields)))

    def delete(self) -> None:
        """Delete it with all its answers."""
        self.site.call(study_delete, self.row.slug, typed=self.row.slug)

    def open_outcomes(self, reason: str) -> None:
        """Unblind the outcomes before the close; the reason stays in the record."""
        self.site.call(study_open_outcomes, self.row.slug, body=Document(reason=reason))

    def design_document(self) -> dict[str, Any]:
        """The frozen design, or that of the draft, as a document."""
        return dict(self.site.call(study_design, self.row.slug).to_dict())

    def change_design(
        self, *, per_condition: int | None = None, targets: Mapping[str, int] | None = None, **settings: Any
    ) -> None:
        """Change a draft: the target of every condition, or of some by label, and settings of the design by name."""
        changes = {"per_condition": per_condition, "targets": targets, "settings": settings or None}
        body = {name: value for name, value in changes.items() if value is not None}
        self.site.change(study_design, study_design_change, self.row.slug, body=body)

    def questionnaire(self) -> dict[str, Any]:
        """The questionnaire as a document."""
        return dict(self.site.call(study_questionnaire, self.row.slug).to_dict())

    def replace_questionnaire(self, document: Mapping[str, Any]) -> None:
        """Replace the questionnaire of a draft."""
        self.site.change(study_questionnaire, study_questionnaire_replace, self.row.slug, body=document)

    def texts(self) -> dict[str, Any]:
        """What participants read besides the questions, by language."""
        return dict(self.site.call(study_texts, self.row.slug).to_dict()["texts"])

    def change_texts(self, texts: Mapping[str, Mapping[str, Any]]) -> None:
        """Change texts of a draft, by language."""
        self.site.change(study_texts, study_texts_change, self.row.slug, body={"texts": texts})

    def set_models(self, models: Sequence[str], **more: Any) -> None:
        """Make these models, by digest, the conditions of a draft."""
        body = {"models": [*models], **more}
        self.site.change(study_conditions, study_conditions_replace, self.row.slug, body=body)

    def preregistration(self, form: str = "aspredicted") -> str:
        """The preregistration as Markdown."""
        return str(self.site.call(study_preregistration, self.row.slug, form))

    def simulate(self, *, per_condition: int, seed: int = 1, effects: Mapping[str, Any] | None = None) -> Job:
        """Let simulated participants take part; they stay apart from people."""
        body = Document(per_condition=per_condition, seed=seed, **({"effects": effects} if effects else {}))
        return Job(self.site, self.site.call(study_simulate, self.row.slug, body=body), lambda _job: self.refresh())

    def answers(self, table: str = "wide", *, frame: bool = False, include_simulated: bool = False) -> Any:
        """A table of answers: a list of dictionaries, or a data frame."""
        path = f"/api/v1/studies/{self.row.slug}/answers/{table}/"
        return _table(self.site, path, frame, include_simulated=str(include_simulated).lower())

    def report(self, mode: str = "live") -> Job:
        """Request a report; `wait()` returns it."""
        row = self.site.call(report_build, body=Document(study=self.row.slug, mode=mode))
        return Job(self.site, row, lambda job: Reports(self.site)[int(_last(job))])


class Studies(Collection[Study]):
    """Studies."""

    kind, listing, reading = Study, studies, study

    def create(self, *, title: str, **fields: Any) -> Study:
        """Create a draft: `run`, or `dataset` and `kind`, whose models are fitted first; `template` names another."""
        row = self.site.call(study_create, body=Document(title=title, **fields))
        if isinstance(row, JobRow):
            return Job(self.site, row, lambda job: self[_last(job)]).wait()  # type: ignore[no-any-return]
        return Study(self.site, row)

"""Serializers of runs, models and tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel, Field
from rest_framework import serializers

from catalog.forms.upload_limits import MOST_MODEL
from catalog.models import Dataset
from evaluation.enums import ModelOrigin, RunStatus
from evaluation.experiments.yaml_loader import shipped
from evaluation.models import EvaluationRun, RemoteRecommender, RunAlgorithm, TrainedModel
from evaluation.run_spec import RunSpec, Whole
from evaluation.selectors.cases import candidate_range
from evaluation.selectors.paired_tests import CORRECTIONS, HIT_TESTS, TESTS, PairedTests
from evaluation.selectors.repeats import MOST_REPEATS
from evaluation.selectors.runs import algorithms_of, progress
from evaluation.services.run_proposals import Proposal
from recommenders import registry

MAX_RATED = 50  # items of a profile, as in the console
_LONGEST_NAME = Dataset._meta.get_field("name").max_length


class ModelSerializer(serializers.ModelSerializer[TrainedModel]):
    """A trained model, identified by its recipe and verified by the digest of its bytes."""

    dataset = serializers.SlugField(source="version.dataset.name")
    dataset_version = serializers.IntegerField(source="version.number")
    dataset_hash = serializers.CharField(source="version.content_hash")
    params = serializers.DictField()
    base = serializers.CharField(
        source="base.digest",
        allow_null=True,
        help_text="Digest of the model that it re-ranks; null without one.",
    )

    class Meta:
        model = TrainedModel
        fields = [
            *("id", "digest", "recipe", "label", "algorithm", "algorithm_version", "params", "seed", "threads"),
            *("origin", "base"),
            *("dataset", "dataset_version", "dataset_hash", "training_digest", "fit_seconds", "created_at"),
        ]
        read_only_fields = fields


class UploadSerializer(serializers.Serializer[Any]):
    """A model that was learned elsewhere, for the newest version of a dataset, as CSV or .npz."""

    file = serializers.FileField(help_text=f"At most {MOST_MODEL // 2**20} MB.")
    dataset = serializers.SlugField(max_length=_LONGEST_NAME)
    kind = serializers.ChoiceField(choices=registry.uploaded_keys())
    learned_from = serializers.RegexField(
        r"^[0-9a-f]{64}$", required=False, default="", help_text="Digest of its training rows: training_hash of a run."
    )
    are_strangers_unseen = serializers.BooleanField(
        default=False, help_text="Your statement that it saw no rating of the test users of the split strangers."
    )
    name = serializers.CharField(required=False, max_length=40, help_text="The name in tables.")
    profile = serializers.ChoiceField(choices=["ratings", "likes"], required=False)
    positive_from = serializers.FloatField(required=False, help_text="Lowest like, on a scale of 1 to 5.")

    def validate_file(self, file: Any) -> Any:
        """Refuse a file that is too large."""
        if file.size > MOST_MODEL:
            raise serializers.ValidationError(
                f"The file has {file.size:,} bytes; the limit is {MOST_MODEL:,}. Use the command upload_model."
            )
        return file


class RecommenderSerializer(serializers.ModelSerializer[RemoteRecommender]):
    """A recommender behind HTTP that studies can use; neither its address nor its token."""

    versions = serializers.SerializerMethodField(
        help_text="The versions that are stored as models which you see, newest first; their `origin` is remote."
    )

    class Meta:
        model = RemoteRecommender
        fields = ["id", "name", "operator", "seconds", "versions"]
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_versions(self, recommender: RemoteRecommender) -> list[str]:
        """The releases of its models."""
        models = TrainedModel.objects.visible_to(self.context["request"].user)
        own = models.filter(origin=ModelOrigin.REMOTE, provenance__service=recommender.name).order_by("-pk")
        return list(dict.fromkeys(facts["release"] for facts in own.values_list("provenance", flat=True)))


class RunAlgorithmSerializer(serializers.ModelSerializer[RunAlgorithm]):
    """An algorithm of a run; without a model before training, or if each fold has its own."""

    params = serializers.DictField()
    model_id = serializers.IntegerField(allow_null=True)
    model_digest = serializers.CharField(source="model.digest", allow_null=True, read_only=True)
    status = serializers.SerializerMethodField(help_text="failed, or that of the run.")

    class Meta:
        model = RunAlgorithm
        fields = [
            *("position", "label", "algorithm", "params", "model_id", "model_digest", "was_reused", "status", "error"),
        ]
        read_only_fields = fields

    def get_status(self, algorithm: RunAlgorithm) -> str:
        """Return "failed" if the algorithm failed, otherwise the status of its run."""
        return str(RunStatus.FAILED if algorithm.error else algorithm.run.status)


class PartsSerializer(serializers.Serializer[Any]):
    """Progress of a run in parts."""

    done = serializers.IntegerField()
    total = serializers.IntegerField()


class CandidatesSerializer(serializers.Serializer[Any]):
    """The range of the numbers of candidates of a run's cases, and the requested number."""

    fewest = serializers.IntegerField()
    most = serializers.IntegerField()
    asked = serializers.IntegerField(source="requested")


class RunSerializer(serializers.ModelSerializer[EvaluationRun]):
    """A run and its inputs."""

    project = serializers.SlugRelatedField(
        slug_field="name", read_only=True, allow_null=True, help_text="Name of its project; null without one."
    )  # type: ignore[var-annotated]

    dataset = serializers.SlugField(source="version.dataset.name")
    dataset_version = serializers.IntegerField(source="version.number")
    dataset_hash = serializers.CharField(source="version.content_hash")
    split = serializers.DictField()
    protocol = serializers.DictField()
    metrics = serializers.ListField(child=serializers.CharField())
    profile_lengths = serializers.ListField(child=serializers.IntegerField())

    class Meta:
        model = EvaluationRun
        fields = [
            *("id", "status", "project", "dataset", "dataset_version", "dataset_hash", "split", "protocol", "task"),
            *("metrics", "reserve", "seed", "n", "profile_lengths", "threads", "inputs_hash"),
            *("created_at", "started_at", "finished_at"),
        ]
        read_only_fields = fields


class RunDetailSerializer(RunSerializer):
    """A run with its algorithms and progress."""

    algorithms = serializers.SerializerMethodField()
    parts = serializers.SerializerMethodField()
    left_out = serializers.DictField()
    counted = serializers.DictField()
    environment = serializers.DictField()
    candidates = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [
            *RunSerializer.Meta.fields,
            *("algorithms", "parts", "activity", "error", "n_relevant", "n_irrelevant"),
            *("candidates", "left_out", "counted", "environment"),
        ]
        read_only_fields = fields

    @extend_schema_field(RunAlgorithmSerializer(many=True))
    def get_algorithms(self, run: EvaluationRun) -> Any:
        """Return the algorithms in order."""
        return RunAlgorithmSerializer(algorithms_of(run), many=True).data

    @extend_schema_field(CandidatesSerializer(allow_null=True))
    def get_candidates(self, run: EvaluationRun) -> Any:
        """Return the range of candidates per hidden rating; null without candidates or cases."""
        candidates = candidate_range(run)
        return None if candidates is None else CandidatesSerializer(candidates).data

    @extend_schema_field(PartsSerializer)
    def get_parts(self, run: EvaluationRun) -> Any:
        """Return the progress in parts."""
        return PartsSerializer(progress(run)).data


class NewRun(RunSpec):
    """A run as commands and experiments state it, on the newest version of a dataset.

    `split` and `protocol` are objects with a `name` and its settings, or texts such as "probe:share=0.1"; `algorithms`
    are pairs of a key and its parameters, or a text such as "toppop,puresvd:factors=50".
    """

    dataset: str
    repeats: Whole = Field(
        1, description="Runs that differ in the seed alone, this one included.", ge=1, le=MOST_REPEATS
    )

    def spec(self) -> RunSpec:
        """The inputs of the run."""
        return RunSpec(**self.model_dump(exclude={"dataset", "repeats"}))


class DatasetQuery(serializers.Serializer[Any]):
    """A dataset; its newest version is used."""

    dataset = serializers.SlugField(max_length=_LONGEST_NAME)


class Proposals(BaseModel):
    """Runs that fit a dataset, by key."""

    proposals: dict[str, Proposal]


class TestsQuery(serializers.Serializer[Any]):
    """Which paired tests, and how they are corrected for their number."""

    test = serializers.ChoiceField(choices=[*TESTS, *HIT_TESTS], default="sign")
    correction = serializers.ChoiceField(choices=[*CORRECTIONS], default="holm")


class RunTests(BaseModel):
    """Pairwise comparisons of a run's algorithms, for each metric with values by user."""

    metrics: tuple[PairedTests, ...]


class ProfileSerializer(serializers.Serializer[Any]):
    """A profile for which a model recommends items."""

    profile = serializers.DictField(
        child=serializers.IntegerField(min_value=1, max_value=5),
        allow_empty=False,
        help_text=f"Rating from 1 to 5 by the item's id, whatever the scale of the dataset; at most {MAX_RATED}.",
    )
    n = serializers.IntegerField(default=5, min_value=1, max_value=20, help_text="Length of the list.")

    def validate_profile(self, profile: dict[str, int]) -> dict[str, int]:
        """Refuse a profile that is too long."""
        if len(profile) > MAX_RATED:
            raise serializers.ValidationError(f"Rate at most {MAX_RATED} items.")
        return profile


class RecommendationSerializer(serializers.Serializer[Any]):
    """A recommended item."""

    item = serializers.CharField(help_text="Its id in the dataset.")
    title = serializers.CharField()
    score = serializers.FloatField(allow_null=True)
    is_filled = serializers.BooleanField(help_text="Whether the model has no score for it: the place was filled.")


class ExperimentSerializer(serializers.Serializer[Any]):
    """An experiment that comes with Parallax."""

    key = serializers.CharField()
    title = serializers.CharField()
    source = serializers.CharField(help_text="The publication.")  # type: ignore[assignment]
    question = serializers.CharField()
    data = serializers.CharField(help_text="The data that it needs.")  # type: ignore[assignment]


class NewExperimentSerializer(DatasetQuery):
    """An experiment on the newest version of a dataset."""

    experiment = serializers.ChoiceField(choices=shipped())


def _table(name: str, words: str, row_words: str, **columns: Callable[[], Any]) -> Any:
    """The serializer of a table of a run, by the kinds of its columns."""
    fields = {column: kind() for column, kind in columns.items()}
    row: Any = type(f"{name}RowSerializer", (serializers.Serializer,), {"__doc__": row_words, **fields})
    rows = {"__doc__": words, "run": serializers.IntegerField(), "rows": row(many=True)}
    return type(f"{name}TableSerializer", (serializers.Serializer,), rows)


TEXT, NUMBER = serializers.CharField, serializers.FloatField
WHOLE_OR_NULL = partial(serializers.IntegerField, allow_null=True)
NUMBER_OR_NULL = partial(serializers.FloatField, allow_null=True)
MetricTableSerializer = _table(
    "Metric",
    "A run's metrics.",
    "A metric of an algorithm; `n` is null for a single value, `profile_length` for whole profiles.",
    algorithm=TEXT,
    profile_length=WHOLE_OR_NULL,
    metric=TEXT,
    n=WHOLE_OR_NULL,
    value=NUMBER_OR_NULL,
    remark=TEXT,
)
UserTableSerializer = _table(
    "User",
    "A run's values by user.",
    "A metric of a user of the dataset; users without a value have no row.",
    user=TEXT,
    metric=TEXT,
    algorithm=TEXT,
    profile_length=WHOLE_OR_NULL,
    value=NUMBER,
)
ProfileTableSerializer = _table(
    "Profile",
    "Profiles of a run's test users.",
    "A rating of a test user's profile, under the keys by which uploaded lists name it.",
    key=TEXT,
    segment=TEXT,
    item=TEXT,
    rating=NUMBER,
)
CurveTableSerializer = _table(
    "Curve",
    "A run's curves.",
    "A point of a curve.",
    algorithm=TEXT,
    profile_length=WHOLE_OR_NULL,
    curve=TEXT,
    x=NUMBER_OR_NULL,
    y=NUMBER_OR_NULL,
)

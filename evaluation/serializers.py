"""Serializers of runs, models and tables."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from catalog.forms.upload_limits import MOST_MODEL
from catalog.models import Dataset
from evaluation.enums import ModelOrigin, RunStatus
from evaluation.models import LONGEST_LABEL, EvaluationRun, RemoteRecommender, RunAlgorithm, TrainedModel
from evaluation.selectors.cases import candidate_range
from evaluation.selectors.runs import algorithms_of, progress
from jobs.models import REQUEST_STATES, Job, JobStatus
from recommenders import registry

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


class _FileSerializer(serializers.Serializer[Any]):
    """A file for a worker; `command` is the command that takes larger ones."""

    command: ClassVar[str]
    file = serializers.FileField(help_text=f"At most {MOST_MODEL // 2**20} MB.")

    def validate_file(self, file: Any) -> Any:
        """Refuse a file that is too large."""
        if file.size > MOST_MODEL:
            raise serializers.ValidationError(
                f"The file has {file.size:,} bytes; the limit is {MOST_MODEL:,}. Use the command {self.command}."
            )
        return file


class UploadSerializer(_FileSerializer):
    """A model that was learned elsewhere, for the newest version of a dataset, as CSV or .npz."""

    command = "upload_model"
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


class ScoresSerializer(_FileSerializer):
    """Scores of another system for the cases of a run: a TREC run, RecBole's or LensKit's scores."""

    command = "upload_scores"
    name = serializers.CharField(
        max_length=LONGEST_LABEL, help_text="The name in tables; scores of the same name are replaced."
    )
    are_ratings = serializers.BooleanField(default=False, help_text="The scores are predicted ratings.")


class UploadStateSerializer(serializers.ModelSerializer[Job]):
    """An uploaded model that a worker checks: its state, and the model once it is stored."""

    dataset = serializers.SlugField(source="subject.dataset.name")
    status = serializers.ChoiceField(choices=REQUEST_STATES, read_only=True)
    error = serializers.CharField(help_text="What is wrong with the file, with lines; empty if nothing is.")
    n_items = serializers.IntegerField(
        source="result.n_items", allow_null=True, default=None, help_text="Items of the dataset that the model knows."
    )
    facts = serializers.ListField(source="result.facts", child=serializers.CharField(), default=list)
    url = serializers.SerializerMethodField(help_text="This upload: poll it until its status is final.")
    model_url = serializers.SerializerMethodField(help_text="The model; null until it is stored.")

    class Meta:
        model = Job
        fields = ["id", "dataset", "status", "activity", "error", "n_items", "facts", "url", "model_url"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_url(self, job: Job) -> str:
        """Its own address."""
        return reverse("api:models-upload", kwargs={"pk": job.pk}, request=self.context["request"])

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_model_url(self, job: Job) -> str | None:
        """The model's address."""
        if job.status != JobStatus.SUCCEEDED:
            return None
        return reverse("api:models-detail", kwargs={"pk": job.result["model"]}, request=self.context["request"])


class ScoresStateSerializer(serializers.ModelSerializer[Job]):
    """Uploaded scores that a worker measures: their state, and what was understood."""

    run = serializers.IntegerField(source="subject_id")
    name = serializers.CharField(source="payload.name")
    status = serializers.ChoiceField(choices=REQUEST_STATES, read_only=True)
    error = serializers.CharField(help_text="What is wrong with the file, with lines; empty if nothing is.")
    coverage = serializers.CharField(
        source="result.coverage",
        default="",
        help_text="The cases and users with scores; empty until they are measured.",
    )
    url = serializers.SerializerMethodField(help_text="This upload: poll it until its status is final.")

    class Meta:
        model = Job
        fields = ["id", "run", "name", "status", "activity", "error", "coverage", "url"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_url(self, job: Job) -> str:
        """Its own address."""
        kwargs = {"pk": job.subject_id, "job": job.pk}
        return reverse("api:runs-scores-upload", kwargs=kwargs, request=self.context["request"])


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
    model_digest = serializers.SerializerMethodField()
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

    def get_model_digest(self, algorithm: RunAlgorithm) -> str | None:
        """Return the digest of the model."""
        return None if algorithm.model is None else algorithm.model.digest


class PartsSerializer(serializers.Serializer[Any]):
    """Progress of a run in parts."""

    done = serializers.IntegerField()
    total = serializers.IntegerField()


class CandidatesSerializer(serializers.Serializer[Any]):
    """The range of the numbers of candidates of a run's cases, and the requested number."""

    fewest = serializers.IntegerField()
    most = serializers.IntegerField()
    asked = serializers.IntegerField()


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
    def get_candidates(self, run: EvaluationRun) -> dict[str, int] | None:
        """Return the range of candidates per hidden rating; null without candidates or cases."""
        candidates = candidate_range(run)
        if candidates is None:
            return None
        return {"fewest": candidates.fewest, "most": candidates.most, "asked": candidates.requested}

    @extend_schema_field(PartsSerializer)
    def get_parts(self, run: EvaluationRun) -> dict[str, int]:
        """Return the progress in parts."""
        parts = progress(run)
        return {"done": parts.done, "total": parts.total}


class MetricRowSerializer(serializers.Serializer[Any]):
    """A metric of an algorithm; `n` is null for a single value, `profile_length` for whole profiles."""

    algorithm = serializers.CharField()
    profile_length = serializers.IntegerField(allow_null=True)
    metric = serializers.CharField()
    n = serializers.IntegerField(allow_null=True)
    value = serializers.FloatField(allow_null=True)
    remark = serializers.CharField(allow_blank=True)


class UserRowSerializer(serializers.Serializer[Any]):
    """A metric of a user of the dataset; users without a value have no row."""

    user = serializers.CharField()
    metric = serializers.CharField()
    algorithm = serializers.CharField()
    profile_length = serializers.IntegerField(allow_null=True)
    value = serializers.FloatField()


class ProfileRowSerializer(serializers.Serializer[Any]):
    """A rating of a test user's profile, under the keys by which uploaded lists name it."""

    key = serializers.CharField()
    segment = serializers.CharField(allow_blank=True)
    item = serializers.CharField()
    rating = serializers.FloatField()


class CurveRowSerializer(serializers.Serializer[Any]):
    """A point of a curve."""

    algorithm = serializers.CharField()
    profile_length = serializers.IntegerField(allow_null=True)
    curve = serializers.CharField()
    x = serializers.FloatField(allow_null=True)
    y = serializers.FloatField(allow_null=True)


def _table(name: str, row: type[serializers.Serializer[Any]], words: str) -> Any:
    rows = {"__doc__": words, "run": serializers.IntegerField(), "rows": row(many=True)}
    return type(name, (serializers.Serializer,), rows)


MetricTableSerializer = _table("MetricTableSerializer", MetricRowSerializer, "A run's metrics.")
UserTableSerializer = _table("UserTableSerializer", UserRowSerializer, "A run's values by user.")
ProfileTableSerializer = _table("ProfileTableSerializer", ProfileRowSerializer, "Profiles of a run's test users.")
CurveTableSerializer = _table("CurveTableSerializer", CurveRowSerializer, "A run's curves.")

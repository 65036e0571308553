"""What programs are told of a study: as much as the role of whoever asks reaches."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from studies.enums import Mode, Role
from studies.models import Condition, Participant, Study
from studies.selectors import monitor
from studies.selectors.assignment_seed import is_seed_known, is_seed_revealed, seed_commitment
from studies.selectors.outcomes import are_outcomes_open
from studies.services.privacy import LONGEST_REASON

REPORTED = [(Mode.LIVE.value, "people"), (Mode.SIMULATED.value, "simulated participants")]  # previews never are


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study in a list; counts are null for interviewers."""

    role = serializers.ChoiceField(
        choices=Role.choices,
        allow_null=True,
        help_text="Null in a study without an owner, which an administrator sees and can take over in the console.",
    )
    n_completed = serializers.SerializerMethodField()
    n_wanted = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = [
            "slug", "title", "status", "role", "n_completed", "n_wanted", "created_at", "launched_at", "closed_at",
            "archived_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_n_completed(self, study: Study) -> int | None:
        """People who have completed."""
        return self._if_reader(study, "n_completed")

    def get_n_wanted(self, study: Study) -> int | None:
        """People who are to complete, over all conditions."""
        return self._if_reader(study, "n_wanted")

    def _if_reader(self, study: Any, name: str) -> int | None:
        return getattr(study, name) if study.role in self.context["readers"] else None


class ConditionSerializer(serializers.ModelSerializer[Condition]):
    """A condition with the model that it pins."""

    algorithm = serializers.CharField(source="model.algorithm")
    params = serializers.DictField(source="model.params")

    class Meta:
        model = Condition
        fields = ["label", "algorithm", "params", "model_id", "model_digest", "target"]
        read_only_fields = fields


class ConditionCountSerializer(serializers.Serializer[Any]):
    """How many participants of one mode a condition has, by where they stand; never an outcome."""

    mode = serializers.ChoiceField(choices=Mode.choices)
    condition = serializers.CharField()
    target = serializers.IntegerField(allow_null=True)
    started = serializers.IntegerField()
    active = serializers.IntegerField()
    completed = serializers.IntegerField()
    abandoned = serializers.IntegerField()


class PinnedDatasetSerializer(serializers.Serializer[Any]):
    """The dataset's version that a study is on."""

    name = serializers.SlugField(source="dataset.name")
    number = serializers.IntegerField()
    content_hash = serializers.CharField()
    is_synthetic = serializers.BooleanField()


class ContrastSerializer(serializers.Serializer[Any]):
    """The planned contrast: conditions expected to have the larger mean, against others."""

    higher = serializers.ListField(child=serializers.CharField())
    lower = serializers.ListField(child=serializers.CharField())
    sides = serializers.IntegerField(min_value=1, max_value=2)


class PrimarySerializer(serializers.Serializer[Any]):
    """The pair that the study was planned on."""

    perceived = serializers.CharField()
    objective = serializers.CharField()
    contrast = ContrastSerializer(
        required=False, help_text="Only where the primary test is a planned contrast and not the rank correlation."
    )


class AssignmentSeedSerializer(serializers.Serializer[Any]):
    """The secret seed of the assignment: its hash from the start, itself once the study is closed."""

    is_known = serializers.BooleanField(
        help_text="Whether the assignment follows from the known seed above, for simulations and demonstrations only."
    )
    sha256 = serializers.CharField(
        allow_blank=True, help_text="Hash of the secret seed; empty where the seed is known."
    )
    seed = serializers.CharField(allow_null=True, help_text="In hexadecimal; null until the close.")
    earlier = serializers.ListField(
        child=serializers.CharField(), help_text="Seeds of earlier waves, revealed when the study closed before."
    )


class DesignFactsSerializer(serializers.Serializer[Any]):
    """What owners and analysts are told of a study."""

    design_hash = serializers.CharField(allow_blank=True, help_text="Empty until the study is launched.")
    dataset = PinnedDatasetSerializer(source="dataset_version")
    run_id = serializers.IntegerField()
    seed = serializers.IntegerField(help_text="Of page orders, resampling and simulated participants.")
    assignment_seed = serializers.SerializerMethodField()
    primary = PrimarySerializer(source="settings.primary", allow_null=True)
    conditions = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()
    are_outcomes_open = serializers.SerializerMethodField(
        help_text="Outcomes by condition are blinded until the close, or until somebody opens them and says why."
    )

    @extend_schema_field(AssignmentSeedSerializer)
    def get_assignment_seed(self, study: Study) -> Any:
        """The seed of the assignment as far as it may be told."""
        return {
            "is_known": is_seed_known(study),
            "sha256": seed_commitment(study),
            "seed": study.assignment_seed or None if is_seed_revealed(study) else None,
            "earlier": [seed for _n_lines, seed in study.earlier_seeds],
        }

    @extend_schema_field(ConditionSerializer(many=True))
    def get_conditions(self, study: Study) -> Any:
        """The conditions in the order of the design."""
        rows = study.conditions.select_related("model").order_by("position")
        return ConditionSerializer(rows, many=True).data

    @extend_schema_field(ConditionCountSerializer(many=True))
    def get_counts(self, study: Study) -> Any:
        """Counts by mode and condition."""
        return [
            {"mode": mode, "condition": line.label, "target": line.target, "started": line.started,
             "active": line.active, "completed": line.completed, "abandoned": line.abandoned}
            for mode in monitor.modes_of(study)
            for line in monitor.counts_by_condition(study, mode)
        ]  # fmt: skip

    def get_are_outcomes_open(self, study: Study) -> bool:
        """Whether means by condition may be read."""
        return are_outcomes_open(study)


class StudyDetailSerializer(serializers.ModelSerializer[Study]):
    """A study as its page shows it; an interviewer's has no `design`."""

    role = serializers.SerializerMethodField()
    design = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = [
            "slug", "title", "status", "role", "created_at", "launched_at", "closed_at", "archived_at", "design",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Role.choices))
    def get_role(self, study: Study) -> str:
        """What whoever asks is in the study."""
        return str(self.context["seat"].role)

    @extend_schema_field(DesignFactsSerializer(allow_null=True))
    def get_design(self, study: Study) -> Any:
        """What the role may see of the design, and counts."""
        return DesignFactsSerializer(study).data if self.context["seat"].may_read else None


class FrozenDesignSerializer(serializers.Serializer[Any]):
    """The design that the hash is over; of a draft, as it stands."""

    design_hash = serializers.CharField(allow_blank=True)
    design = serializers.DictField()


class OutcomeSerializer(serializers.Serializer[Any]):
    """Means of one condition over completed participants whom neither the researcher nor the plan leaves out; null
    where there is nobody."""

    condition = serializers.CharField()
    n = serializers.IntegerField()
    accuracy = serializers.FloatField(allow_null=True)
    fon = serializers.FloatField(allow_null=True)
    son = serializers.FloatField(allow_null=True)
    satisfaction = serializers.FloatField(allow_null=True)


class OutcomesQuerySerializer(serializers.Serializer[Any]):
    """Whose outcomes."""

    mode = serializers.ChoiceField(choices=REPORTED, default=Mode.LIVE.value)


class AnswersQuerySerializer(serializers.Serializer[Any]):
    """Whose answers; ids that lead back to people are never among them."""

    include_simulated = serializers.BooleanField(default=False, help_text="With simulated participants, marked.")
    without_excluded = serializers.BooleanField(
        default=False,
        help_text="Without those whom analyses leave out, by hand or by the plan; they are marked otherwise.",
    )


class AnswersSerializer(serializers.Serializer[Any]):
    """A table of a study's data: each row holds the variables of the table's codebook by name."""

    study = serializers.SlugField()
    table = serializers.CharField()
    design_hash = serializers.CharField(allow_blank=True)
    modes = serializers.ListField(child=serializers.ChoiceField(choices=Mode.choices))
    contains_simulated = serializers.BooleanField()
    rows = serializers.ListField(child=serializers.DictField())


class LabelSerializer(serializers.Serializer[Any]):
    """A value and what it means."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # declared, no attribute


class VariableSerializer(serializers.Serializer[Any]):
    """A variable as the codebook tells it."""

    name = serializers.CharField()
    meaning = serializers.CharField()
    type = serializers.CharField()
    values = serializers.CharField(allow_blank=True)
    missing = serializers.CharField(allow_blank=True)
    identifies = serializers.CharField()
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # as above
    derivation = serializers.CharField(allow_blank=True)
    direction = serializers.CharField(allow_blank=True)
    reverse_coded = serializers.BooleanField()
    labels = LabelSerializer(many=True)


class CodebookSerializer(serializers.Serializer[Any]):
    """The codebook of a table, and the same as a Frictionless Table Schema."""

    table = serializers.CharField()
    variables = VariableSerializer(many=True)
    table_schema = serializers.DictField()


class WithdrawalSerializer(serializers.Serializer[Any]):
    """Who is withdrawn on their behalf, and why."""

    participant = serializers.CharField(max_length=500, help_text="Their code, or an id of another site.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="For the log; name nobody.")


class WithdrawnSerializer(serializers.ModelSerializer[Participant]):
    """A participant without a person: the code, and the status."""

    class Meta:
        model = Participant
        fields = ["code", "status"]
        read_only_fields = fields

"""REST API representation of a study, according to the researcher's role."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from studies.allocation.selectors.assignment_seed import is_seed_known, is_seed_revealed, seed_commitment
from studies.data.codebook.variable import HEADS, REVERSED
from studies.enums import READERS, Mode, Role
from studies.known_items import SCALES
from studies.models import Condition, Participant, Study
from studies.monitoring.selectors import monitor
from studies.monitoring.selectors.outcomes import are_outcomes_open
from studies.participation.services.withdrawal import LONGEST_REASON
from studies.settings import ELICITATIONS

# Previews are never reported.
REPORTED = [(Mode.LIVE.value, "live participants"), (Mode.SIMULATED.value, "simulated participants")]
MOMENTS = ("created_at", "launched_at", "closed_at", "archived_at")
COUNTS = ("target", "started", "active", "completed", "abandoned")


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study in the list; counts are null for interviewers."""

    role = serializers.ChoiceField(
        choices=Role.choices,
        allow_null=True,
        help_text="Null for a study without an owner, which administrators see and can take over in the console.",
    )
    n_completed = serializers.IntegerField(read_only=True, allow_null=True)
    n_wanted = serializers.IntegerField(read_only=True, allow_null=True, help_text="Over all conditions.")

    class Meta:
        model = Study
        fields = ["slug", "title", "status", "role", "n_completed", "n_wanted", *MOMENTS]
        read_only_fields = fields

    def to_representation(self, study: Any) -> dict[str, Any]:
        """The fields that the role may see."""
        shown = super().to_representation(study)
        return shown if study.role in READERS else {**shown, "n_completed": None, "n_wanted": None}


class ConditionSerializer(serializers.ModelSerializer[Condition]):
    """A condition with its pinned model."""

    algorithm = serializers.CharField(source="model.algorithm")
    params = serializers.DictField(source="model.params")

    presentation = serializers.DictField(help_text="How its lists are shown; empty: as by default.")
    levels = serializers.DictField(help_text="Its level of each factor.")

    class Meta:
        model = Condition
        fields = [*("label", "algorithm", "params", "model_id", "model_digest", "target", "presentation", "levels")]
        read_only_fields = fields


class ConditionCountSerializer(serializers.Serializer[Any]):
    """Participants of one mode in one condition, by status; no outcomes."""

    mode = serializers.ChoiceField(choices=Mode.choices)
    condition = serializers.CharField()
    target = serializers.IntegerField(allow_null=True)
    started = serializers.IntegerField()
    active = serializers.IntegerField()
    completed = serializers.IntegerField()
    abandoned = serializers.IntegerField()


class PinnedDatasetSerializer(serializers.Serializer[Any]):
    """The dataset version of a study."""

    name = serializers.SlugField(source="dataset.name")
    number = serializers.IntegerField()
    content_hash = serializers.CharField()
    is_synthetic = serializers.BooleanField()


class ContrastSerializer(serializers.Serializer[Any]):
    """A planned contrast between conditions with an expected higher and lower mean."""

    higher = serializers.ListField(child=serializers.CharField())
    lower = serializers.ListField(child=serializers.CharField())
    sides = serializers.IntegerField(min_value=1, max_value=2)


class PrimarySerializer(serializers.Serializer[Any]):
    """The primary pair of a study."""

    perceived = serializers.CharField()
    objective = serializers.CharField()
    contrast = ContrastSerializer(
        required=False, help_text="Only if the primary test is a planned contrast instead of the rank correlation."
    )
    effect = serializers.DictField(
        required=False, help_text="Only if the primary test is an effect of factors or doses."
    )
    smallest_effect = serializers.FloatField(
        required=False, help_text="Smallest effect of interest, in points of the perceived variable, if one is planned."
    )


class AssignmentSeedSerializer(serializers.Serializer[Any]):
    """The secret assignment seed: its hash, and the seed itself once the study is closed."""

    is_known = serializers.BooleanField(
        help_text="Whether the assignment uses the known `seed` of the study, for simulations and demonstrations only."
    )
    sha256 = serializers.CharField(allow_blank=True, help_text="Hash of the secret seed; empty if the seed is known.")
    seed = serializers.CharField(allow_null=True, help_text="The seed in hexadecimal; null until the close.")
    earlier = serializers.ListField(
        child=serializers.CharField(), help_text="Seeds of earlier waves, revealed at earlier closes."
    )


class KnownItemsSerializer(serializers.Serializer[Any]):
    """What participants tell about items they know."""

    elicitation = serializers.ChoiceField(choices=ELICITATIONS)
    scale = serializers.ChoiceField(choices=list(SCALES), allow_null=True, help_text="Null where items are chosen.")
    fewest = serializers.IntegerField()
    most = serializers.IntegerField()
    order = serializers.CharField(help_text="Order in which items are first shown.")


class DesignFactsSerializer(serializers.Serializer[Any]):
    """Design and counts of a study, for owners and analysts."""

    design_hash = serializers.CharField(allow_blank=True, help_text="Empty until the study is launched.")
    dataset = PinnedDatasetSerializer(source="dataset_version")
    run_id = serializers.IntegerField()
    seed = serializers.IntegerField(help_text="Seed of random orders, resampling and simulated participants.")
    assignment_seed = serializers.SerializerMethodField()
    known_items = serializers.SerializerMethodField()
    primary = PrimarySerializer(source="settings.primary", allow_null=True)
    conditions = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()
    are_outcomes_open = serializers.SerializerMethodField(
        help_text="Outcomes by condition are blinded until the close, or until an owner unblinds them with a reason."
    )

    @extend_schema_field(AssignmentSeedSerializer)
    def get_assignment_seed(self, study: Study) -> Any:
        """Return the assignment seed if it is revealed, otherwise its hash."""
        return {
            "is_known": is_seed_known(study),
            "sha256": seed_commitment(study),
            "seed": study.assignment_seed or None if is_seed_revealed(study) else None,
            "earlier": [seed for _n_lines, seed in study.earlier_seeds],
        }

    @extend_schema_field(KnownItemsSerializer)
    def get_known_items(self, study: Study) -> Any:
        """How known items are elicited."""
        requested = study.design.items_asked
        return {
            "elicitation": study.design.elicitation,
            "scale": None if study.design.is_choice else study.design.scale.key,
            "fewest": requested.fewest,
            "most": requested.most,
            "order": study.design.item_order,
        }

    @extend_schema_field(ConditionSerializer(many=True))
    def get_conditions(self, study: Study) -> Any:
        """Conditions in the order of the design."""
        rows = study.conditions.select_related("model").order_by("position")
        return ConditionSerializer(rows, many=True).data

    @extend_schema_field(ConditionCountSerializer(many=True))
    def get_counts(self, study: Study) -> Any:
        """Counts per mode and condition."""
        return [
            {"mode": mode, "condition": line.label, **{name: getattr(line, name) for name in COUNTS}}
            for mode in monitor.modes_of(study)
            for line in monitor.counts_by_condition(study, mode)
        ]

    def get_are_outcomes_open(self, study: Study) -> bool:
        """Whether means by condition are unblinded."""
        return are_outcomes_open(study)


class StudyDetailSerializer(serializers.ModelSerializer[Study]):
    """A study; `design` is null for interviewers."""

    role = serializers.SerializerMethodField()
    design = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = ["slug", "title", "status", "role", *MOMENTS, "design"]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Role.choices))
    def get_role(self, study: Study) -> str:
        """Your role in the study."""
        return str(self.context["membership"].role)

    @extend_schema_field(DesignFactsSerializer(allow_null=True))
    def get_design(self, study: Study) -> Any:
        """Design and counts, as far as your role may see them."""
        return DesignFactsSerializer(study).data if self.context["membership"].may_read else None


class TemplateSerializer(serializers.Serializer[Any]):
    """A template of studies."""

    key = serializers.SlugField()
    version = serializers.IntegerField()
    title = serializers.CharField()
    description = serializers.CharField()
    algorithms = serializers.CharField(source="quick_algorithms", help_text="What a run has to measure; empty: any.")
    fewest_conditions = serializers.IntegerField()


class OpenPointSerializer(serializers.Serializer[Any]):
    """What a draft lacks: the stage of the console and its field where it is settled."""

    stage = serializers.CharField()
    field = serializers.CharField(allow_blank=True)
    text = serializers.CharField()


class LaunchSerializer(serializers.Serializer[Any]):
    """What keeps a draft from being launched, what is worth settling before, and what a launch freezes."""

    needed = OpenPointSerializer(many=True)
    advice = OpenPointSerializer(many=True)
    facts = serializers.DictField(help_text="The design in words.")
    minutes = serializers.FloatField(help_text="Expected time of a participant.")


class FrozenDesignSerializer(serializers.Serializer[Any]):
    """The design covered by the design hash; for a draft, the current design."""

    design_hash = serializers.CharField(allow_blank=True)
    design = serializers.DictField()


class ConditionsSerializer(serializers.Serializer[Any]):
    """The conditions of a study, and the models and factors of presentation whose product they are."""

    models = serializers.ListField(child=serializers.CharField(), help_text="Digests.")
    presentations = serializers.ListField(child=serializers.DictField())
    conditions = ConditionSerializer(many=True)


class DesignVersionSerializer(serializers.Serializer[Any]):
    """A version of a design, and how many participants entered under it."""

    number = serializers.IntegerField(source="version.number")
    design_hash = serializers.CharField(source="version.design_hash")
    made_at = serializers.DateTimeField(source="version.made_at")
    made_by = serializers.CharField(source="version.made_by.email", allow_null=True)
    why = serializers.CharField(source="version.why", allow_blank=True)
    n = serializers.IntegerField()
    n_simulated = serializers.IntegerField()


class OutcomesQuerySerializer(serializers.Serializer[Any]):
    """Mode of the outcomes."""

    mode = serializers.ChoiceField(choices=REPORTED, default=Mode.LIVE.value)


class AnswersQuerySerializer(serializers.Serializer[Any]):
    """Filters of the answers, which never contain identifying ids."""

    include_simulated = serializers.BooleanField(default=False, help_text="Include simulated participants, marked.")
    without_excluded = serializers.BooleanField(
        default=False,
        help_text="Omit participants excluded by a researcher or by the plan; by default they are included and marked.",
    )


class AnswersSerializer(serializers.Serializer[Any]):
    """A data table of a study; each row contains the variables of the codebook by name."""

    study = serializers.SlugField()
    table = serializers.CharField()
    design_hash = serializers.CharField(allow_blank=True)
    modes = serializers.ListField(child=serializers.ChoiceField(choices=Mode.choices))
    contains_simulated = serializers.BooleanField()
    rows = serializers.ListField(child=serializers.DictField())


class LabelSerializer(serializers.Serializer[Any]):
    """A value and its meaning."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a declared field, not an attribute


VARIABLE: dict[str, Any] = {name: serializers.CharField(allow_blank=True) for name in HEADS}
VARIABLE |= {REVERSED: serializers.BooleanField(), "labels": LabelSerializer(many=True)}


class CodebookSerializer(serializers.Serializer[Any]):
    """The codebook of a table, also as a Frictionless Table Schema."""

    table = serializers.CharField()
    variables = inline_serializer("Variable", VARIABLE, many=True)
    table_schema = serializers.DictField()


class WithdrawalSerializer(serializers.Serializer[Any]):
    """Participant to withdraw on request, and the reason."""

    participant = serializers.CharField(max_length=500, help_text="Participant code or external id.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="Reason for the log; do not name anyone.")


class WithdrawnSerializer(serializers.ModelSerializer[Participant]):
    """A withdrawn participant: code and status only."""

    class Meta:
        model = Participant
        fields = ["code", "status"]
        read_only_fields = fields

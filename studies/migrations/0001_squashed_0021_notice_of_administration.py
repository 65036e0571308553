"""The tables of studies in one step, for new databases; older ones go through the migrations named below."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import studies.models.study


class Migration(migrations.Migration):
    replaces = [
        ("studies", "0001_initial"),
        ("studies", "0002_allocation_targets"),
        ("studies", "0003_quality_and_exports"),
        ("studies", "0004_recruiting"),
        ("studies", "0005_events_of_browsers"),
        ("studies", "0006_shown_orders"),
        ("studies", "0007_around_a_study"),
        ("studies", "0008_leased_exports"),
        ("studies", "0009_trailers_of_lists"),
        ("studies", "0010_declined_forms"),
        ("studies", "0011_second_wave"),
        ("studies", "0012_entry_limits"),
        ("studies", "0013_secret_assignment_seeds"),
        ("studies", "0014_template_version"),
        ("studies", "0015_panel_id_entrance"),
        ("studies", "0016_questionnaire_undo"),
        ("studies", "0017_study_invitations"),
        ("studies", "0018_interview_sessions"),
        ("studies", "0019_simulation_jobs"),
        ("studies", "0020_proof_of_work"),
        ("studies", "0021_notice_of_administration"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0006_projects"),
        ("catalog", "0006_project"),
        ("evaluation", "0008_project"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Condition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                ("label", models.CharField(max_length=80)),
                ("model_digest", models.CharField(max_length=64)),
                ("target", models.PositiveIntegerField()),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="conditions",
                        to="evaluation.trainedmodel",
                    ),
                ),
            ],
            options={
                "ordering": ["study_id", "position"],
            },
        ),
        migrations.CreateModel(
            name="ConsentVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("texts", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("why", models.TextField(blank=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["study_id", "number"],
            },
        ),
        migrations.CreateModel(
            name="Participant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("code", models.CharField(max_length=16)),
                ("token_digest", models.CharField(max_length=64, unique=True)),
                ("entry_key", models.CharField(max_length=64)),
                (
                    "mode",
                    models.CharField(
                        choices=[("live", "Live"), ("simulated", "Simulated"), ("preview", "Preview")],
                        default="live",
                        max_length=12,
                    ),
                ),
                (
                    "entrance",
                    models.CharField(
                        choices=[
                            ("open", "Open link"),
                            ("personal", "Personal link"),
                            ("guest", "Guest list"),
                            ("interview", "Interviewer"),
                            ("panel_id", "Panel id"),
                        ],
                        default="open",
                        max_length=12,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("started", "Started"),
                            ("consented", "Consented"),
                            ("active", "Active"),
                            ("completed", "Completed"),
                            ("abandoned", "Abandoned"),
                            ("screened_out", "Screened Out"),
                            ("quota_full", "Quota Full"),
                            ("attention_failed", "Attention Failed"),
                            ("returned", "Returned"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="consented",
                        max_length=20,
                    ),
                ),
                ("step", models.CharField(default="about", max_length=20)),
                ("item_rank", models.PositiveSmallIntegerField(default=0)),
                ("stratum", models.CharField(blank=True, max_length=120)),
                ("place", models.PositiveIntegerField(blank=True, null=True)),
                ("language", models.CharField(default="en", max_length=8)),
                ("shown_orders", models.JSONField(default=dict)),
                ("consent_language", models.CharField(blank=True, max_length=8)),
                ("parameters", models.JSONField(default=dict)),
                ("source_user", models.CharField(blank=True, max_length=100)),
                ("completion_code", models.CharField(blank=True, max_length=16)),
                ("consented_at", models.DateTimeField()),
                ("assigned_at", models.DateTimeField(blank=True, null=True)),
                ("completed_at", models.DateTimeField(blank=True, null=True)),
                ("last_seen_at", models.DateTimeField()),
                ("erased_at", models.DateTimeField(blank=True, null=True)),
                (
                    "condition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="participants",
                        to="studies.condition",
                    ),
                ),
                (
                    "consent_version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="participants",
                        to="studies.consentversion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="RecommendationList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_digest", models.CharField(max_length=64)),
                ("seconds", models.FloatField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                (
                    "participant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recommendation_list",
                        to="studies.participant",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Study",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[("draft", "Draft"), ("live", "Live"), ("paused", "Paused"), ("closed", "Closed")],
                        default="draft",
                        max_length=20,
                    ),
                ),
                ("template", models.CharField(max_length=80)),
                ("template_version", models.PositiveSmallIntegerField(default=1, editable=False)),
                ("seed", models.BigIntegerField()),
                ("assignment_seed", models.CharField(blank=True, editable=False, max_length=32)),
                ("earlier_seeds", models.JSONField(blank=True, default=list, editable=False)),
                ("settings", models.JSONField(default=dict)),
                ("questionnaire", models.JSONField(default=dict)),
                ("texts", models.JSONField(default=dict)),
                ("design_hash", models.CharField(blank=True, max_length=64)),
                ("launched_at", models.DateTimeField(blank=True, null=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("reopened_at", models.DateTimeField(blank=True, null=True)),
                ("export_salt", models.CharField(default=studies.models.study.new_salt, editable=False, max_length=64)),
                ("n_opened", models.PositiveIntegerField(default=0)),
                ("n_declined", models.PositiveIntegerField(default=0)),
                ("external_ids_kept_days", models.PositiveIntegerField(blank=True, null=True)),
                ("answers_kept_days", models.PositiveIntegerField(blank=True, null=True)),
                ("outcomes_opened_at", models.DateTimeField(blank=True, null=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("flags_looked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "dataset_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="studies", to="catalog.datasetversion"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="studies",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "studies",
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="SimulationJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("error", models.TextField(blank=True)),
                ("lease", models.CharField(blank=True, max_length=64)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("hinted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("activity", models.CharField(blank=True, max_length=200)),
                ("per_condition", models.PositiveIntegerField()),
                ("seed", models.PositiveIntegerField()),
                ("base_url", models.CharField(max_length=300)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="simulation_jobs", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Recruiting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("panel", models.CharField(default="none", max_length=20)),
                ("names", models.JSONField(default=dict)),
                (
                    "entrance",
                    models.CharField(
                        choices=[
                            ("open", "Open link"),
                            ("personal", "Personal link"),
                            ("guest", "Guest list"),
                            ("interview", "Interviewer"),
                            ("panel_id", "Panel id"),
                        ],
                        default="open",
                        max_length=12,
                    ),
                ),
                ("exits", models.JSONField(default=dict)),
                ("excluded_studies", models.JSONField(default=list)),
                ("longest_gap_minutes", models.PositiveIntegerField(blank=True, null=True)),
                ("most_per_network", models.PositiveIntegerField(blank=True, null=True)),
                ("pause_at", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "proof_of_work",
                    models.CharField(
                        choices=[("never", "Never"), ("unusual", "At unusual rates"), ("always", "Always")],
                        default="unusual",
                        max_length=8,
                    ),
                ),
                (
                    "without_script",
                    models.CharField(
                        choices=[("wait", "Wait 20 seconds"), ("sum", "Answer an arithmetic question")],
                        default="wait",
                        max_length=8,
                    ),
                ),
                ("places", models.JSONField(blank=True, default=list)),
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="recruiting", to="studies.study"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="QuestionnaireUndo",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("title", models.CharField(max_length=300)),
                ("questionnaire", models.JSONField()),
                ("digest_after", models.CharField(max_length=64)),
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questionnaire_undo",
                        to="studies.study",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PersonalLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("label", models.CharField(blank=True, max_length=200)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("browser_digest", models.CharField(blank=True, max_length=64)),
                (
                    "made_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="personal_links", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="participant",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="participants", to="studies.study"
            ),
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("first_participant", "First participant"),
                            ("target_reached", "Target reached"),
                            ("study_full", "Study full"),
                            ("flag", "Quality flag"),
                            ("fault", "Fault"),
                            ("retention", "Retention date"),
                            ("enrolment_rate", "Unusual enrolment rate"),
                            ("administration", "Change by an administrator"),
                        ],
                        max_length=20,
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="Interview",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("place", models.CharField(blank=True, max_length=200)),
                ("label", models.CharField(blank=True, max_length=200)),
                ("note_before", models.TextField(blank=True)),
                ("noted_before_at", models.DateTimeField(blank=True, null=True)),
                ("note_after", models.TextField(blank=True)),
                ("noted_after_at", models.DateTimeField(blank=True, null=True)),
                ("evaluation", models.JSONField(blank=True, default=dict)),
                ("evaluated_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                (
                    "condition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="studies.condition",
                    ),
                ),
                (
                    "interviewer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "participant",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="interview",
                        to="studies.participant",
                    ),
                ),
                (
                    "link",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="interview", to="studies.personallink"
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="interviews", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Guest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("value", models.CharField(max_length=500)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="guests", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="ExternalId",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("value", models.CharField(max_length=500)),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="external_ids",
                        to="studies.participant",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="external_ids", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["participant_id", "name"],
            },
        ),
        migrations.CreateModel(
            name="ExportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("error", models.TextField(blank=True)),
                ("lease", models.CharField(blank=True, max_length=64)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("hinted_at", models.DateTimeField(blank=True, null=True)),
                ("kind", models.CharField(max_length=20)),
                ("options", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("file", models.CharField(blank=True, max_length=200)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("n_bytes", models.BigIntegerField(blank=True, null=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="export_jobs", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="DeclinedForm",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("declined_on", models.DateField()),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="declined_forms", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="consentversion",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="consent_versions", to="studies.study"
            ),
        ),
        migrations.AddField(
            model_name="condition",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="conditions", to="studies.study"
            ),
        ),
        migrations.CreateModel(
            name="Allocation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "mode",
                    models.CharField(
                        choices=[("live", "Live"), ("simulated", "Simulated"), ("preview", "Preview")], max_length=12
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("assigned", "Assigned"),
                            ("skipped", "Skipped"),
                            ("released", "Released"),
                            ("retaken", "Retaken"),
                        ],
                        max_length=12,
                    ),
                ),
                ("stratum", models.CharField(max_length=120)),
                ("place", models.PositiveIntegerField()),
                ("block", models.PositiveIntegerField()),
                ("targets", models.JSONField(null=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "condition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studies.condition"
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="allocations",
                        to="studies.participant",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="allocations", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="StudyInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("analyst", "Analyst"), ("interviewer", "Interviewer")],
                        max_length=20,
                    ),
                ),
                (
                    "condition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="studies.condition",
                    ),
                ),
                (
                    "invitation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="study_invitation",
                        to="accounts.invitation",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="StudyMembership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("analyst", "Analyst"), ("interviewer", "Interviewer")],
                        default="owner",
                        max_length=20,
                    ),
                ),
                (
                    "notices_by_mail",
                    models.CharField(
                        choices=[("at_once", "At once"), ("daily", "Once a day"), ("never", "Never")],
                        default="daily",
                        max_length=12,
                    ),
                ),
                (
                    "condition",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="studies.condition",
                    ),
                ),
                (
                    "researcher",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="studies.study"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="study",
            name="researchers",
            field=models.ManyToManyField(
                related_name="studies", through="studies.StudyMembership", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.CreateModel(
            name="StudyVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("design_hash", models.CharField(max_length=64)),
                ("snapshot", models.JSONField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("why", models.TextField(blank=True)),
                (
                    "made_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["study_id", "number"],
            },
        ),
        migrations.AddField(
            model_name="participant",
            name="version",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="studies.studyversion",
            ),
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=600)),
                ("person", models.CharField(max_length=500)),
                ("submission", models.CharField(blank=True, max_length=500)),
                ("state", models.CharField(max_length=20)),
                ("told", models.CharField(blank=True, max_length=500)),
                ("code", models.CharField(blank=True, max_length=500)),
                ("loaded_at", models.DateTimeField()),
                (
                    "participant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to="studies.participant",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="submissions", to="studies.study"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="NoticeReceipt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="receipts", to="studies.notice"
                    ),
                ),
                (
                    "researcher",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-notice_id"],
                "indexes": [
                    models.Index(fields=["researcher", "read_at"], name="studies_not_researc_59c240_idx"),
                    models.Index(
                        condition=models.Q(("mailed_at__isnull", True)), fields=["mailed_at"], name="receipt_not_mailed"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("notice", "researcher"), name="notice_receipt_once")],
            },
        ),
        migrations.CreateModel(
            name="Exclusion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                ("flags", models.JSONField(default=list)),
                ("excluded_at", models.DateTimeField(auto_now_add=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                ("undo_reason", models.TextField(blank=True)),
                (
                    "excluded_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "undone_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="exclusions", to="studies.participant"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at__isnull", True)),
                        fields=("participant",),
                        name="exclusion_in_force_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("key", models.CharField(blank=True, max_length=36)),
                ("page", models.CharField(blank=True, max_length=20)),
                ("rank", models.PositiveSmallIntegerField(default=0)),
                ("seconds", models.FloatField(blank=True, null=True)),
                ("hidden_seconds", models.FloatField(blank=True, null=True)),
                ("facts", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("client_at", models.DateTimeField(blank=True, null=True)),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="studies.participant"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["participant", "kind"], name="studies_eve_partici_ea402c_idx")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("key", ""), _negated=True),
                        fields=("participant", "key"),
                        name="event_of_browser_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProfileRating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rating", models.PositiveSmallIntegerField()),
                (
                    "provenance",
                    models.CharField(
                        choices=[("person", "Person"), ("true", "True"), ("modelled", "Modelled")],
                        default="person",
                        max_length=12,
                    ),
                ),
                ("n_changes", models.PositiveIntegerField(default=0)),
                ("rated_at", models.DateTimeField(auto_now_add=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "item",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalog.item"),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="profile", to="studies.participant"
                    ),
                ),
            ],
            options={
                "ordering": ["participant_id", "rated_at", "id"],
                "constraints": [models.UniqueConstraint(fields=("participant", "item"), name="profile_rating_once")],
            },
        ),
        migrations.CreateModel(
            name="RecommendedItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rank", models.PositiveSmallIntegerField()),
                ("score", models.FloatField(null=True)),
                ("is_filled", models.BooleanField(default=False)),
                ("has_trailer", models.BooleanField(null=True)),
                (
                    "item",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalog.item"),
                ),
                (
                    "recommendation_list",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slots",
                        to="studies.recommendationlist",
                    ),
                ),
            ],
            options={
                "ordering": ["recommendation_list_id", "rank"],
                "constraints": [
                    models.UniqueConstraint(fields=("recommendation_list", "rank"), name="slot_rank_once"),
                    models.UniqueConstraint(fields=("recommendation_list", "item"), name="slot_item_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Response",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("question", models.CharField(max_length=60)),
                ("rank", models.PositiveSmallIntegerField(default=0)),
                ("value", models.JSONField()),
                (
                    "provenance",
                    models.CharField(
                        choices=[("person", "Person"), ("true", "True"), ("modelled", "Modelled")],
                        default="person",
                        max_length=12,
                    ),
                ),
                ("n_changes", models.PositiveIntegerField(default=0)),
                ("first_at", models.DateTimeField(auto_now_add=True)),
                ("answered_at", models.DateTimeField(auto_now=True)),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="responses", to="studies.participant"
                    ),
                ),
            ],
            options={
                "ordering": ["participant_id", "rank", "question"],
                "constraints": [
                    models.UniqueConstraint(fields=("participant", "question", "rank"), name="response_once")
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(fields=("study", "key"), name="notice_once"),
        ),
        migrations.AddConstraint(
            model_name="guest",
            constraint=models.UniqueConstraint(fields=("study", "value"), name="guest_once"),
        ),
        migrations.AddIndex(
            model_name="externalid",
            index=models.Index(fields=["study", "name", "value"], name="studies_ext_study_i_787426_idx"),
        ),
        migrations.AddConstraint(
            model_name="externalid",
            constraint=models.UniqueConstraint(fields=("participant", "name"), name="external_id_once"),
        ),
        migrations.AddConstraint(
            model_name="consentversion",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="consent_version_once"),
        ),
        migrations.AddConstraint(
            model_name="condition",
            constraint=models.UniqueConstraint(fields=("study", "position"), name="condition_position_once"),
        ),
        migrations.AddConstraint(
            model_name="allocation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["assigned", "skipped"])),
                fields=("study", "mode", "stratum", "place"),
                name="allocation_place_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="studymembership",
            constraint=models.UniqueConstraint(fields=("study", "researcher"), name="membership_once"),
        ),
        migrations.AddConstraint(
            model_name="studyversion",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="study_version_once"),
        ),
        migrations.AddIndex(
            model_name="participant",
            index=models.Index(fields=["study", "mode", "status"], name="studies_par_study_i_df5f4f_idx"),
        ),
        migrations.AddIndex(
            model_name="participant",
            index=models.Index(fields=["status", "last_seen_at"], name="studies_par_status_2d1d9c_idx"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(fields=("study", "code"), name="participant_code_once"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(fields=("study", "entry_key"), name="participant_entry_once"),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(
                fields=("study", "mode", "stratum", "place"), name="participant_place_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="participant",
            constraint=models.UniqueConstraint(
                condition=models.Q(("completion_code", ""), _negated=True),
                fields=("study", "completion_code"),
                name="participant_completion_code_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(fields=("study", "key"), name="submission_once"),
        ),
    ]

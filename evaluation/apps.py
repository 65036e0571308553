"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig

from jobs.kinds import Kind, register


class EvaluationConfig(AppConfig):
    """The evaluation app."""

    name = "evaluation"

    def ready(self) -> None:
        """Register the jobs of workers; runs have parts of their own."""
        services = "evaluation.services.experiment_jobs"
        work, ready = f"{services}.write_outcome", f"{services}.is_ready"
        register(Kind("experiment", "Experiment", work=work, ready=ready, address="evaluation.api.runs.outcome_made"))
        uploads = "evaluation.services.upload_jobs"
        after, model = f"{uploads}.drop_file", "evaluation.api.models.model_made"
        for key, title, work, address in (
            ("model-upload", "Model upload", "store_model", model),
            ("scores-upload", "Upload of scores", "measure_scores", "evaluation.api.runs.scores_made"),
        ):
            register(
                Kind(key, title, work=f"{uploads}.{work}", after=after, cancelled=after, kept_days=30, address=address)
            )
        work = f"{uploads}.collect"
        register(
            Kind("lists-collection", "Lists", work=work, is_long=True, is_continued=True, kept_days=30, address=model)
        )

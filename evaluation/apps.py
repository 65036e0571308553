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
        register(Kind("experiment", "Experiment", work=f"{services}.write_outcome", ready=f"{services}.is_ready"))
        uploads = "evaluation.services.upload_jobs"
        for key, title, work in (
            ("model-upload", "Model upload", "store_model"),
            ("scores-upload", "Upload of scores", "measure_scores"),
        ):
            register(Kind(key, title, work=f"{uploads}.{work}", after=f"{uploads}.drop_file", kept_days=30))
        work = f"{uploads}.collect"
        register(Kind("lists-collection", "Lists", work=work, is_long=True, is_continued=True, kept_days=30))

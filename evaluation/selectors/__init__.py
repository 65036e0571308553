"""Selectors of runs for other apps."""

from evaluation.selectors.cases import (
    ReservedUsers,
    TrainingMeans,
    reserved_histories,
    reserved_users,
    training_means,
)
from evaluation.selectors.results import Curve, Row, UserValues, curves, table, user_values
from evaluation.selectors.runs import Progress, newest_succeeded_run, progress, runs_by_time

__all__ = [
    "Curve",
    "Progress",
    "ReservedUsers",
    "Row",
    "TrainingMeans",
    "UserValues",
    "curves",
    "newest_succeeded_run",
    "progress",
    "reserved_histories",
    "reserved_users",
    "runs_by_time",
    "table",
    "training_means",
    "user_values",
]

"""Parallax from Python.

`Parallax(url, token).datasets.upload("ratings.csv", name="films").wait()`; every operation of the REST API is a typed
function of `parallax_client.low.api`.
"""

from __future__ import annotations

from parallax_client.records import Datasets, Models, Reports, Runs, Studies
from parallax_client.site import Connection, Refused
from parallax_client.work import Failed

__all__ = ["Failed", "Parallax", "Refused"]


class Parallax(Connection):
    """A site, as the account of a token sees it; without `url` and `token`, of PARALLAX_URL and PARALLAX_TOKEN."""

    def __init__(self, url: str = "", token: str = "", *, timeout: float = 60) -> None:
        super().__init__(url, token, timeout=timeout)
        self.datasets = Datasets(self)
        self.runs = Runs(self)
        self.models = Models(self)
        self.studies = Studies(self)
        self.reports = Reports(self)

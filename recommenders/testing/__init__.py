"""Checks of an algorithm's contract, for the tests of the repository that it lives in.

A test calls `check_algorithm`; `CHECKS` and `Trial` run the checks one by one. Nothing here needs a framework, a
database or a test runner.
"""

from __future__ import annotations

from recommenders.testing.contract import CHECKS, Check, check_algorithm
from recommenders.testing.trial import Trial

__all__ = ["CHECKS", "Check", "Trial", "check_algorithm"]

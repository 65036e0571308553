"""What becomes of a person's action: its success or its refusal, on the page or in the form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest

from core.errors import ParallaxError, ParameterError


@contextmanager
def refusals_in(form: BaseForm, field: str | None = None, *, of: str = "") -> Iterator[None]:
    """Add each problem of a refusal to the form's errors; to `field` where its code contains `of`.

    A parameter that cannot be used is a refusal without a code.
    """
    try:
        yield
    except ParameterError as refusal:
        form.add_error(None if of else field, str(refusal))
    except ParallaxError as refusal:
        for problem in refusal.problems:
            form.add_error(field if of in refusal.code else None, problem)


def perform(request: HttpRequest, act: Callable[..., object], success: str, **facts: Any) -> Any:
    """Perform an action, and tell the researcher of its success, if in any words, or of the problems.

    Returns the result of the action, None if it was refused.
    """
    try:
        result = act(actor=request.user, **facts)
    except ParallaxError as refusal:
        for line in refusal.problems:
            messages.error(request, line)
        return None
    if success:
        messages.success(request, success)
    return result

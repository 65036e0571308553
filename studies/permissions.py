"""Who may see what of a study: a seat is a researcher's membership, and without one the study does not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from studies.enums import Role
from studies.models import Study
from studies.selectors.console import membership_of

EVERYBODY = frozenset(Role.values)
READERS = frozenset({Role.OWNER, Role.ANALYST})
STARTERS = frozenset({Role.OWNER, Role.INTERVIEWER})
OWNERS = frozenset({Role.OWNER})


@dataclass(frozen=True)
class Seat:
    """A study, and what the researcher who asks may do in it."""

    study: Study
    role: str

    @property
    def is_owner(self) -> bool:
        """Whether they may change the study."""
        return self.role == Role.OWNER

    @property
    def may_read(self) -> bool:
        """Whether they may see counts and take exports."""
        return self.role in READERS


StudyView = Callable[..., HttpResponse]


def seat_for(researcher: Any, slug: str, roles: frozenset[str]) -> Seat:
    """The researcher's seat: 404 where they are not on the study, 403 where their role does not reach."""
    membership = membership_of(researcher, slug)
    if membership is None:
        raise Http404("There is no such study.")
    if membership.role not in roles:
        raise PermissionDenied("Your role in this study does not include this page.")
    return Seat(membership.study, membership.role)


def seated(roles: frozenset[str]) -> Callable[[StudyView], StudyView]:
    """Give the view a `Seat` in place of the slug; `roles` stays readable on it, for the test of every address."""

    def decorate(view: StudyView) -> StudyView:
        @wraps(view)
        def checked(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
            return view(request, seat_for(request.user, slug, roles), **kwargs)

        checked.roles = roles  # type: ignore[attr-defined]
        return checked

    return decorate

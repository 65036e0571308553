"""What each endpoint of a study checks first: the researcher's role in it, and what the token is limited to."""

from __future__ import annotations

from django.http import Http404
from rest_framework.permissions import SAFE_METHODS

from core.api import StrictView
from core.form_bodies import described
from studies.console.forms.data import ReasonForm
from studies.design.services.archiving import refuse_archived
from studies.models import Study
from studies.team.permissions import OWNERS, Membership, membership_for

REASON = described(ReasonForm, "Reason")
STUDY_LIMITS = {"study": "pk", "project": "dataset_version__dataset__project"}
OF_STUDY = "studies/(?P<slug>[-a-zA-Z0-9_]+)"  # where the addresses of what belongs to a study begin


class StudyView(StrictView):
    """An endpoint whose address has the `slug` of a study."""

    limits = STUDY_LIMITS
    lookup_field = "slug"
    lookup_value_regex = r"[-a-zA-Z0-9_]+"

    def membership(self, slug: str, roles: frozenset[str], *, even_when_archived: bool = False) -> Membership:
        """The researcher's membership with one of the roles. Raises Http404, also for a token that is limited to
        something else, PermissionDenied for another role, and `study.archived` for a change of an archived study,
        unless `even_when_archived`.
        """
        membership = membership_for(self.request.user, slug, roles)
        if not self.within(Study.objects.filter(pk=membership.study.pk), STUDY_LIMITS).exists():
            raise Http404
        if self.request.method not in SAFE_METHODS and not even_when_archived:
            refuse_archived(membership.study)
        return membership

    @property
    def owned(self) -> Study:
        """The study in the address, for its owners alone. Raises as `membership`."""
        return self.membership(self.kwargs["slug"], OWNERS).study

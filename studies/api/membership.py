"""What each endpoint of a study checks first: the researcher's role in it, and what the token is limited to."""

from __future__ import annotations

from django.http import Http404

from core.api import StrictView
from studies.design.services.archiving import refuse_archived
from studies.models import Study
from studies.team.permissions import OWNERS, Membership, membership_for

STUDY_LIMITS = {"study": "pk", "project": "dataset_version__dataset__project"}


class StudyView(StrictView):
    """An endpoint whose address has the `slug` of a study."""

    limits = STUDY_LIMITS
    lookup_field = "slug"
    lookup_value_regex = r"[-a-zA-Z0-9_]+"

    def membership(self, slug: str, roles: frozenset[str]) -> Membership:
        """The researcher's membership with one of the roles. Raises Http404, also for a token that is limited to
        something else, and PermissionDenied for another role.
        """
        membership = membership_for(self.request.user, slug, roles)
        if not self.within(Study.objects.filter(pk=membership.study.pk), STUDY_LIMITS).exists():
            raise Http404
        return membership

    def study_to_change(self, slug: str) -> Study:
        """The study, for its owners, unless it is archived. Raises as `membership`, and `study.archived`."""
        study = self.membership(slug, OWNERS).study
        refuse_archived(study)
        return study

"""The last stage: what is needed and advised before the launch, the pilot, the launch; afterwards the frozen design."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from core.outcomes import perform
from core.provenance import digest_of
from studies.console.stages import STAGE_OF, STAGES, Stage
from studies.console.views.workspace import study_page
from studies.design.selectors.launch_overview import LAUNCH, OpenPoint, launch_overview, stage_summaries
from studies.design.services import launch
from studies.design.services.fixes import apply_fix
from studies.enums import READERS, Mode, ParticipantStatus, StudyStatus
from studies.models import Study
from studies.monitoring.selectors.estimate import estimate_of
from studies.monitoring.selectors.monitor import counts_by_status
from studies.team.permissions import FORM, Membership, for_members

PILOT_MODES = (Mode.SIMULATED, Mode.PREVIEW)


def _lines(study: Study, points: list[OpenPoint]) -> list[tuple[OpenPoint, Stage, str]]:
    """Each point with its stage and the address of the field that settles it."""
    stages = [STAGE_OF[point.stage] for point in points]
    return [(point, stage, stage.url(study.slug, point.field)) for point, stage in zip(points, stages, strict=True)]


def _walked(study: Study, mode: Mode) -> tuple[str, int, int]:
    counts = counts_by_status(study, mode)
    return str(mode.label), sum(counts.values()), counts.get(ParticipantStatus.COMPLETED, 0)


@for_members(READERS, FORM)
def study_launch(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show what the launch needs and freezes; confirmed, freeze the design and open the study."""
    study = membership.study
    is_draft = study.status == StudyStatus.DRAFT
    # A confirmation says which design it confirms.
    digest = digest_of(launch.design_snapshot(study)) if is_draft else ""
    if request.method == "POST":
        if not membership.is_owner:
            messages.error(request, "Only the study's owners can launch it.")
        elif "fix" in request.POST:
            perform(request, apply_fix, "Applied.", study=study, fix=request.POST["fix"])
        elif not is_draft or request.POST.get("design") == digest:
            perform(request, launch.launch_study, "The study is live, and its design is frozen.", study=study)
            return redirect("studies:detail", slug=study.slug)
        else:
            messages.error(request, "The design has changed since this page was opened. Check it again, then confirm.")
        return redirect("studies:launch", slug=study.slug)
    overview = launch_overview(study)
    needed = launch.launch_findings(study) if is_draft else []
    advice = [point for point in overview.advice if point not in needed] if is_draft else []
    values = stage_summaries(study)
    settled = [stage for stage in STAGES[:-1] if all(point.stage != stage.key for point in (*needed, *advice))]
    context = {
        "digest": digest,
        "is_draft": is_draft,
        "may_simulate": is_draft and membership.may_change and not needed,
        "overview": overview,
        "needed": needed,
        "groups": [("Needed", _lines(study, needed)), ("Advice", _lines(study, advice))],
        "ready": [(stage, stage.url(study.slug), values[stage.key]) for stage in settled],
        "estimate": estimate_of(study),
        "pilot": [walked for mode in PILOT_MODES if (walked := _walked(study, mode))[1]],
        # In pieces, so that the page can break the line between them on a phone.
        "hash_parts": [study.design_hash[start : start + 16] for start in range(0, 64, 16)],
    }
    return study_page(request, membership, "console/studies/launch.html", context, tab=LAUNCH)

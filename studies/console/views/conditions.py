"""The stage of the conditions: the factors, and their product with what each condition would recommend."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse

from core.errors import ParallaxError, StorageUnavailable
from evaluation.tables import share
from studies.console.forms.conditions import ConditionsForm, dose_of
from studies.console.views.autosave import stage_page
from studies.console.views.stages import size
from studies.design.selectors.available_models import offline_values
from studies.design.selectors.launch_overview import CONDITIONS
from studies.design.selectors.sample_profiles import RESERVED, SampleProfile, sample_profile
from studies.design.services.canaries import remote_conditions
from studies.enums import READERS
from studies.models import Study
from studies.simulation.services.condition_lists import ConditionList, are_named, side_by_side
from studies.team.permissions import FORM, Membership, for_members


@for_members(READERS, FORM)
def study_conditions(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Factors that multiply into conditions, and the conditions side by side."""
    form_of = partial(ConditionsForm, researcher=request.user)
    number = request.GET.get("profile", "")
    context = partial(_columns, int(number[:6]) if number.isdecimal() else 0)
    return stage_page(request, membership, CONDITIONS, form_of, "console/studies/conditions.html", context)


def _columns(number: int, study: Study, form: Any) -> dict[str, Any]:
    """Each condition with its offline values, and what it recommends to a reserved user who is the same for all."""
    sample: SampleProfile | None = None
    lists: tuple[ConditionList, ...] = ()
    problem = ""
    if remote_conditions(study):
        problem = "A remote recommender is asked only on the page Lists side by side."
    elif are_named(study):
        try:
            sample = sample_profile(study=study, draw=RESERVED, number=number)
            lists = side_by_side(study=study, ratings=sample.ratings).lists
        except (ParallaxError, StorageUnavailable) as refusal:
            problem = str(refusal)
    ratings = sample.ratings if sample else {}
    items = {item.index: item for item in study.dataset_version.items.filter(index__in=list(ratings))}
    first = {slot.item.pk for slot in lists[0].slots} if lists else set()
    measured = offline_values(study)
    of_models = next((factor.key for factor in study.design.factors if factor.is_of_recommenders), "")
    columns = []
    for at, condition in enumerate(study.conditions.select_related("model__base").order_by("position")):
        base, slots = condition.model.base, lists[at].slots if lists else ()
        columns.append(
            {
                "label": condition.label,
                "name": base.label if base else condition.levels.get(of_models, condition.label),
                "levels": [
                    dose_of(condition.model) if base else "As ranked",
                    *(form.words.get(level, level) for key, level in condition.levels.items() if key != of_models),
                ],
                # What was saved beside a fault may have added conditions since the form was made.
                "target": form[name] if (name := f"target{condition.pk}") in form.fields else condition.target,
                "values": [(metric, share(of.get(condition.model_digest))) for metric, of in measured.items()],
                "problem": lists[at].problem if lists else "",
                "slots": [(slot, slot.item.pk in first) for slot in slots],
                "n_shared": sum(slot.item.pk in first for slot in slots),
            }
        )
    return {
        "columns": columns,
        "sample": sample,
        "rated": [(items[index], study.design.scale.value(point)) for index, point in ratings.items()],
        "next_profile": number + 1,
        "problem": problem,
        **size(study, form),
    }

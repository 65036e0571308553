"""The pages of the gallery, by the last part of their address."""

from __future__ import annotations

from collections.abc import Mapping

from parallax.design import charts, controls, items, jobs, people, questions, reports, studies, tables
from parallax.design.components import GalleryPage

PARTICIPANT, CONSOLE = "participant/base.html", "console/base.html"

PAGES: Mapping[str, GalleryPage] = {
    "participant": GalleryPage("Participant pages", PARTICIPANT, people.sections, context=people.FRAME),
    "questions": GalleryPage("Question kinds", PARTICIPANT, questions.unanswered, is_form=True),
    "answers": GalleryPage("Answers and problems", PARTICIPANT, questions.answered, is_form=True),
    "ratings": GalleryPage("Ratings", PARTICIPANT, items.ratings),
    "items": GalleryPage("Items", PARTICIPANT, items.sections),
    "lists": GalleryPage("Lists and details", PARTICIPANT, items.lists),
    "controls": GalleryPage("Console controls", CONSOLE, controls.sections),
    "forms": GalleryPage("Console forms", CONSOLE, controls.forms, styles=("css/catalog.css",)),
    "tables": GalleryPage("Tables and choices", CONSOLE, tables.sections),
    "studies": GalleryPage("Studies", CONSOLE, studies.sections, styles=("css/workspace.css",), body_class="workspace"),
    "jobs": GalleryPage("Jobs", CONSOLE, jobs.sections),
    "reports": GalleryPage("Reports", CONSOLE, reports.sections, styles=("css/report.css",)),
    "charts": GalleryPage("Charts", CONSOLE, charts.sections, styles=("css/report.css",)),
    "comparisons": GalleryPage("Charts of comparisons", CONSOLE, charts.comparisons, styles=("css/report.css",)),
}

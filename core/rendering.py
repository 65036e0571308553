"""How a field of a form looks, on every page: its template stands with the project's own."""

from __future__ import annotations

from django.forms.renderers import TemplatesSetting


class Rendering(TemplatesSetting):
    """Django's own templates for forms, but for the one of a field."""

    field_template_name = "forms/field.html"

"""The form renderer: fields are rendered by the project's own template."""

from __future__ import annotations

from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    """Django's form templates, except for the template of a field."""

    field_template_name = "forms/field.html"

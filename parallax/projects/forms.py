"""Forms of projects: a name, a member, and who sees a dataset."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.enums import ProjectRole
from accounts.models import WRITERS, Project
from accounts.services.projects import LONGEST_NAME
from catalog.models import Dataset
from core.form_fields import offer


class NameForm(forms.Form):
    """The name of a project."""

    name = forms.CharField(label="Name", max_length=LONGEST_NAME)


class MemberForm(forms.Form):
    """A researcher and their role in a project."""

    email = forms.EmailField(label="E-mail address", help_text="Of an account of this installation.")
    role = forms.ChoiceField(label="Role", choices=ProjectRole.choices, initial=ProjectRole.VIEWER)


class MoveForm(forms.Form):
    """Who sees a dataset: a project of the researcher, or everyone. `is_confirmed` once they have read the effects."""

    project = forms.ModelChoiceField(
        label="Visible to",
        queryset=Project.objects.none(),
        required=False,
        empty_label="Every researcher of this installation",
    )
    is_confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, dataset: Dataset, researcher: Any) -> None:
        super().__init__(data, initial={"project": dataset.project_id})
        self.dataset = dataset
        offer(self, "project", Project.objects.of(researcher, WRITERS))

    def clean_project(self) -> Project | None:
        """The project, or None for everyone; not the one in which the dataset is."""
        project: Project | None = self.cleaned_data["project"]
        if (project.pk if project else None) == self.dataset.project_id:
            raise forms.ValidationError("This is how it is now. Choose another entry, or leave the page.")
        return project

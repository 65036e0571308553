"""Forms of the account pages."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UserChangeForm, UserCreationForm
from django.utils.translation import gettext_lazy as _

from accounts.enums import Scope
from accounts.models import User
from accounts.services import LONGEST_NAME


class SignInForm(AuthenticationForm):
    """E-mail address and password."""

    username = forms.EmailField(
        label=_("E-mail address"), widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"})
    )

    def clean_username(self) -> str:
        """Addresses are stored in lower case."""
        return str(self.cleaned_data["username"]).lower()


class NameForm(forms.ModelForm[User]):
    """The name shown to other researchers."""

    class Meta:
        model = User
        fields = ["name"]


class TokenForm(forms.Form):
    """A new access token: purpose, scope and validity."""

    name = forms.CharField(
        label=_("Purpose"),
        max_length=LONGEST_NAME,
        help_text=_("The script or machine that uses it."),
    )
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope.choices, initial=Scope.READ)
    days = forms.TypedChoiceField(
        label=_("Valid for"),
        choices=[("30", _("30 days")), ("90", _("90 days")), ("365", _("1 year")), ("", _("Until revoked"))],
        initial="90",
        coerce=int,
        empty_value=None,
        required=False,
    )


class AccountCreationForm(UserCreationForm[User]):
    """The administrator's form for a new account."""

    class Meta:
        model = User
        fields = ["email"]


class AccountChangeForm(UserChangeForm[User]):
    """The administrator's form for an account."""

    class Meta:
        model = User
        fields = "__all__"

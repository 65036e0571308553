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
        """Addresses are kept in lower case."""
        return str(self.cleaned_data["username"]).lower()


class NameForm(forms.ModelForm[User]):
    """How a researcher is named to others."""

    class Meta:
        model = User
        fields = ["name"]


class TokenForm(forms.Form):
    """A new access token: what it is for, what it may do, how long."""

    name = forms.CharField(
        label=_("What it is for"),
        max_length=LONGEST_NAME,
        help_text=_("So that you know it again: a script, a machine."),
    )
    scope = forms.ChoiceField(label=_("What it may do"), choices=Scope.choices, initial=Scope.READ)
    days = forms.TypedChoiceField(
        label=_("How long"),
        choices=[("30", _("30 days")), ("90", _("90 days")), ("365", _("A year")), ("", _("Until it is revoked"))],
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

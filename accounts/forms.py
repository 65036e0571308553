"""Forms of the account pages."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UserChangeForm, UserCreationForm
from django.utils.translation import gettext_lazy as _

from accounts.models import User


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

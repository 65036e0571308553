"""Forms of the account pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.password_validation import password_validators_help_text_html
from django.utils.translation import gettext_lazy as _

from accounts.enums import READING, Scope
from accounts.models import User
from accounts.selectors import limits_of
from accounts.services import LONGEST_NAME, USUAL_DAYS
from core.form_fields import offer

NameForm = forms.modelform_factory(User, fields=["name"])  # which other researchers see


class SignInForm(AuthenticationForm):
    """E-mail address and password."""

    username = forms.EmailField(
        label=_("E-mail address"), widget=forms.EmailInput(attrs={"autofocus": True, "autocomplete": "username"})
    )

    def clean_username(self) -> str:
        """Addresses are stored in lower case."""
        return str(self.cleaned_data["username"]).lower()


class TokenForm(forms.Form):
    """A new access token: purpose, scope and validity."""

    name = forms.CharField(
        label=_("Purpose"),
        max_length=LONGEST_NAME,
        help_text=_("The script or machine that uses it."),
    )
    scope = forms.MultipleChoiceField(
        label=_("Scope"),
        choices=[(scope.value, scope.label) for scope in (Scope.READ, Scope.DATA, Scope.WRITE)],
        initial=READING.split(),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("To write is to build reports, to upload and, with participants’ data, to withdraw participants."),
    )
    days = forms.TypedChoiceField(
        label=_("Valid for"),
        choices=[("30", _("30 days")), ("90", _("90 days")), ("365", _("1 year"))],
        initial=str(USUAL_DAYS),
        coerce=int,
    )

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = [
            (f"{kind}:{row.pk}", f"{kind.capitalize()}: {row}") for kind, of in limits_of(owner).items() for row in of
        ]
        self.fields["only"] = forms.ChoiceField(
            label=_("Limited to"),
            choices=[("", _("all that I can see")), *rows],
            required=False,
            help_text=_("Beside this study or project, the token sees nothing."),
        )

    def clean_scope(self) -> str:
        """The scopes as `create_token` takes them."""
        return " ".join(self.cleaned_data["scope"])


class AccountInvitationForm(forms.Form):
    """An invitation to the installation."""

    email = forms.EmailField(
        label=_("E-mail address"),
        required=False,
        help_text=_("Only this address can accept. Empty: anyone who has the link."),
    )
    is_administrator = forms.BooleanField(label=_("Administrator"), required=False)


class NewAccountForm(forms.Form):
    """The account that an invitation creates; `email` is fixed where the invitation names it."""

    email = forms.EmailField(label=_("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "username"}))
    name = forms.CharField(
        label=_("Name"),
        max_length=150,
        required=False,
        help_text=_("As other researchers see it."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=password_validators_help_text_html,
    )
    again = forms.CharField(
        label=_("Password, again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, invited: str, data: Any = None) -> None:
        super().__init__(data)
        if invited:
            del self.fields["email"]
        self.invited = invited

    def clean_again(self) -> str:
        again = str(self.cleaned_data["again"])
        if again != self.cleaned_data.get("password"):
            raise forms.ValidationError(_("The two passwords differ. Type the same one twice."))
        return again

    def account(self) -> dict[str, str]:
        cleaned = self.cleaned_data
        email = self.invited or cleaned["email"]
        return {"email": email, "name": cleaned["name"], "password": cleaned["password"]}


class SuccessorForm(forms.Form):
    """The account that takes over the studies that only the account to close owns."""

    successor = forms.ModelChoiceField(
        label=_("New owner of their studies"),
        queryset=User.objects.none(),
        required=False,
        empty_label=_("Not needed"),
        to_field_name="email",
        help_text=_("Needed if a study has no other owner with an active account."),
    )

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        candidates = User.objects.filter(is_active=True).exclude(pk=user.pk).order_by("email")
        offer(self, "successor", candidates)

    @property
    def email(self) -> str:
        """The successor's address, or an empty string."""
        successor = self.cleaned_data["successor"]
        return successor.email if successor else ""


class UnlockForm(forms.Form):
    """The PIN of a device, or the password of the researcher who locked it."""

    secret = forms.CharField(
        strip=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "autofocus": True}),
    )

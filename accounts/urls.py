"""Routes of the account pages."""

from __future__ import annotations

from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from django.contrib.auth import views as auth_views
from django.urls import path, reverse_lazy
from django.views.decorators.cache import never_cache

from accounts.views import administration, invitations, second_factor, single_sign_on
from accounts.views import own_account as views

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="account"),
    path("tokens/", views.token_list, name="tokens"),
    path("tokens/<int:pk>/revoke/", views.token_revoke, name="token_revoke"),
    path("sessions/end/", views.sessions_end, name="sessions_end"),
    path("unlock/", views.unlock, name="unlock"),
    path("invitation/<str:key>/", invitations.invitation, name="invitation"),
    path("invitations/<int:pk>/revoke/", administration.invitation_revoke, name="invitation_revoke"),
    path("researchers/", administration.researcher_list, name="researchers"),
    path("researchers/<int:pk>/", administration.researcher, name="researcher"),
    path("researchers/<int:pk>/administrator/", administration.set_role, name="researcher_role"),
    path("researchers/<int:pk>/deactivate/", administration.researcher_deactivate, name="researcher_deactivate"),
    path("researchers/<int:pk>/reactivate/", administration.researcher_reactivate, name="researcher_reactivate"),
    path("researchers/<int:pk>/delete/", administration.researcher_delete, name="researcher_delete"),
    path(
        "researchers/<int:pk>/second-factor/reset/",
        administration.second_factor_reset,
        name="researcher_second_factor",
    ),
    path("sign-in/", views.SignIn.as_view(), name="sign_in"),
    path("sign-out/", auth_views.LogoutView.as_view(), name="sign_out"),
    path(
        "password/",
        auth_views.PasswordChangeView.as_view(
            template_name="accounts/password_change.html", success_url=reverse_lazy("accounts:account")
        ),
        name="password_change",
    ),
    path("password/reset/", views.PasswordReset.as_view(), name="password_reset"),
    path(
        "password/reset/sent/",
        auth_views.PasswordResetDoneView.as_view(template_name="accounts/password_reset_sent.html"),
        name="password_reset_sent",
    ),
    path("password/reset/<uidb64>/<token>/", views.PasswordResetConfirm.as_view(), name="password_reset_confirm"),
]


# Pages that django-allauth looks up by names of its own; no others of its pages are routed.
library_patterns = [
    path("sign-in/", views.SignIn.as_view(), name="account_login"),
    path("sign-in/second-factor/", second_factor.SignInSecondFactor.as_view(), name="mfa_authenticate"),
    path("confirm/", second_factor.ConfirmByPassword.as_view(), name="account_reauthenticate"),
    path("confirm/code/", second_factor.ConfirmByCode.as_view(), name="mfa_reauthenticate"),
    path("single-sign-on/<slug:provider_id>/", single_sign_on.start, name="openid_connect_login"),
    path("single-sign-on/<slug:provider_id>/callback/", single_sign_on.finish, name="openid_connect_callback"),
    path("sign-in/passkey/", second_factor.SignInByPasskey.as_view(), name="mfa_login_webauthn"),
    path("confirm/passkey/", second_factor.ConfirmByPasskey.as_view(), name="mfa_reauthenticate_webauthn"),
    path("second-factor/", second_factor.SecondFactors.as_view(), name="mfa_index"),
    path(
        "second-factor/passkeys/<int:pk>/remove/",
        RemoveWebAuthnView.as_view(template_name="accounts/passkey_remove.html", success_url=reverse_lazy("mfa_index")),
        name="mfa_remove_webauthn",
    ),
    *(
        # Most of these pages show secrets.
        path(f"second-factor/{at}/", never_cache(view.as_view(template_name=f"accounts/{template}.html")), name=name)
        for at, view, template, name in (
            ("passkeys", AddWebAuthnView, "passkey", "mfa_add_webauthn"),
            ("app", ActivateTOTPView, "authenticator_app", "mfa_activate_totp"),
            ("app/remove", DeactivateTOTPView, "authenticator_app_remove", "mfa_deactivate_totp"),
            ("recovery-codes", ViewRecoveryCodesView, "recovery_codes", "mfa_view_recovery_codes"),
            ("recovery-codes/new", GenerateRecoveryCodesView, "recovery_codes_new", "mfa_generate_recovery_codes"),
        )
    ),
]

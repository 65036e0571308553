"""Routes of the account pages."""

from __future__ import annotations

from django.contrib.auth import views as auth_views
from django.urls import path

from accounts.views import administration, device_lock, invitations, passkeys, second_factor, single_sign_on
from accounts.views import own_account as views

app_name = "accounts"
urlpatterns = [
    path("", views.account, name="account"),
    path("tokens/", views.token_list, name="tokens"),
    path("tokens/<int:pk>/revoke/", views.token_revoke, name="token_revoke"),
    path("sessions/end/", views.sessions_end, name="sessions_end"),
    path("unlock/", device_lock.unlock, name="unlock"),
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
    path("password/", views.PasswordChange.as_view(), name="password_change"),
    path("password/reset/", views.PasswordReset.as_view(), name="password_reset"),
    path("password/reset/sent/", views.PasswordResetSent.as_view(), name="password_reset_sent"),
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
    path("sign-in/passkey/", passkeys.SignInByPasskey.as_view(), name="mfa_login_webauthn"),
    path("confirm/passkey/", passkeys.ConfirmByPasskey.as_view(), name="mfa_reauthenticate_webauthn"),
    path("second-factor/passkeys/", passkeys.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path("second-factor/passkeys/<int:pk>/remove/", passkeys.RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("second-factor/", second_factor.SecondFactors.as_view(), name="mfa_index"),
    path("second-factor/app/", second_factor.AddApp.as_view(), name="mfa_activate_totp"),
    path("second-factor/app/remove/", second_factor.RemoveApp.as_view(), name="mfa_deactivate_totp"),
    path("second-factor/recovery-codes/", second_factor.RecoveryCodes.as_view(), name="mfa_view_recovery_codes"),
    path(
        "second-factor/recovery-codes/new/",
        second_factor.NewRecoveryCodes.as_view(),
        name="mfa_generate_recovery_codes",
    ),
]

"""What changes accounts."""

from __future__ import annotations

import secrets

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from accounts.models import User
from core.errors import ParallaxError


@transaction.atomic
def create_account(
    *, email: str, password: str | None = None, name: str = "", is_administrator: bool = False
) -> tuple[User, str]:
    """Make an account and return it with its password, which is drawn where none is given.

    Raises ParallaxError `account.bad_email`, `account.weak_password` or `account.exists`.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as problem:
        raise ParallaxError("account.bad_email", f"{email!r} is not an e-mail address.") from problem
    if password is None:
        password = secrets.token_urlsafe(12)
    else:
        try:
            validate_password(password, User(email=email, name=name))
        except ValidationError as problem:
            raise ParallaxError("account.weak_password", " ".join(problem.messages)) from problem
    make = User.objects.create_superuser if is_administrator else User.objects.create_user
    try:
        with transaction.atomic():
            user = make(email, password, name=name)
    except IntegrityError as problem:
        raise ParallaxError("account.exists", f"There is an account for {email} already.") from problem
    return user, password

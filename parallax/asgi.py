"""Entry for an ASGI server: requests are read in its event loop and answered by `parallax.wsgi` on threads."""

from __future__ import annotations

from parallax.wsgi import application as wsgi_application

# That import has set Django up, which the following ones need.
# isort: split
from django.conf import settings

from accounts.selectors import is_signed_in
from parallax.gateway import Gateway

application = Gateway(
    wsgi_application,
    threads=settings.WEB_THREADS,
    n_proxies=settings.TRUSTED_PROXIES,
    is_signed_in=is_signed_in,
)

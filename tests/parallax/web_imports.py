"""Visits every page of the site in one process, and tells which page first imports a heavy library.

`python -m tests.parallax.web_imports make` makes an installation in PARALLAX_VAR and prints its addresses;
`python -m tests.parallax.web_imports visit` reads them from its input, and prints how many models are open before the
processes fork, whether the REST API is described, the threads, and a line for each library.
"""

# ruff: noqa: T201 -- a program that prints
from __future__ import annotations

import json
import sys
import threading
from contextlib import suppress

import django

HEAVY = (
    "jax", "lxml", "numba", "numpyro", "pandas", "pyarrow", "scipy.optimize", "scipy.special", "scipy.stats",
    "statsmodels", "typst", "vl_convert",
)  # fmt: skip


def make() -> None:
    from django.core.management import call_command
    from django.urls import reverse

    call_command("migrate", verbosity=0)
    from studies.data.exports.export_files import FORMATS
    from tests.gallery.pages import _addresses
    from tests.gallery.small import small_installation

    made = small_installation()
    addresses = dict(_addresses(made))
    run, study = made.run, made.studies[0]
    for name in ("recall", "fallout"):
        addresses[f"figure-{name}"] = reverse("evaluation:figure", args=[run.pk, name])
    for kind in FORMATS:
        addresses[f"export-{kind}"] = reverse("studies:export", args=[study.slug, kind])
    addresses["participant"] = f"/s/{made.studies[0].slug}/"
    addresses["public-report"] = made.report.get_absolute_url()
    print(json.dumps({"owner": made.owner.pk, "addresses": addresses}))


def visit() -> None:
    from django.conf import settings
    from django.test import Client

    from accounts.models import User
    from parallax.web import load_application

    made = json.load(sys.stdin)
    settings.ALLOWED_HOSTS = ["testserver"]
    load_application()
    from evaluation.services.serving import opened_model
    from parallax.api.operations import interface

    opened = [known.cache_info().currsize for known in (opened_model, interface)]
    print("shared", *opened, *(thread.name for thread in threading.enumerate()))
    from parallax import wsgi  # noqa: F401 -- as each process does

    known = {name for name in HEAVY if name in sys.modules}
    print("start", *sorted(known), flush=True)
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(pk=made["owner"]), backend="django.contrib.auth.backends.ModelBackend")
    for name, path in made["addresses"].items():
        if "sign-out" in path:
            continue
        response = client.get(path)
        with suppress(Exception):
            response.getvalue()
        new = {each for each in HEAVY if each in sys.modules} - known
        known |= new
        if new or "-v" in sys.argv:
            print(name, path, response.status_code, *sorted(new), flush=True)
    figures = [client.get(path).status_code for name, path in made["addresses"].items() if name.startswith("figure-")]
    print("visited", len(made["addresses"]), *figures)


if __name__ == "__main__":
    django.setup()
    {"make": make, "visit": visit}[sys.argv[1]]()

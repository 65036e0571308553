"""The console's pages: every address of the site that answers with a page, found from the URL configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import reverse

from accounts.models import User
from analysis.files.document import KEYS
from analysis.models import Report
from evaluation.models import EvaluationRun
from jobs.models import Job
from studies.models import Study
from tests.factories.addresses import named_addresses

NAMESPACES = ("", "accounts", "analysis", "catalog", "evaluation", "projects", "replication", "studies")


@dataclass(frozen=True)
class Installation:
    """What the pages are about."""

    owner: User
    run: EvaluationRun
    studies: tuple[Study, ...]
    report: Report
    request: Job
    subjects: dict[str, list[dict[str, Any]]]  # arguments of addresses about single things; see tests.gallery.subjects


def console_pages(installation: Installation) -> dict[str, str]:
    """The path of every page by a name to save it under, as its owner sees it; addresses that redirect are left out."""
    client = Client(SERVER_NAME="localhost")
    client.force_login(installation.owner, backend="django.contrib.auth.backends.ModelBackend")
    found = {}
    for name, path in _addresses(installation):
        response = client.get(path)
        is_html = response.status_code == 200 and response["Content-Type"].startswith("text/html")
        if is_html and b"<html" in response.content:
            found[name] = path
    return found


def _addresses(installation: Installation) -> Iterator[tuple[str, str]]:
    yield "api-docs", reverse("api:docs")
    for study in installation.studies:
        yield f"studies-report-{study.status}", f"{reverse('analysis:list')}?study={study.slug}"
    for namespace, name, names in named_addresses():
        if namespace not in NAMESPACES:
            continue
        address = f"{namespace}:{name}" if namespace else name
        own = installation.subjects.get(address)
        marked = [(each.get("step", ""), each) for each in own] if own else None
        given = marked or _arguments(installation, namespace, name, names)
        for mark, arguments in given:
            yield "-".join(filter(None, (namespace, name, mark))), reverse(address, kwargs=arguments)


def _arguments(
    installation: Installation, namespace: str, name: str, names: set[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Values for the arguments of an address, each with a mark that tells them apart."""
    version, report = installation.run.version, installation.report
    of_report = {"study": report.study.slug, "number": report.number}
    given = {
        "": {},
        "accounts": {},
        "analysis": {"pk": installation.request.pk} if name.startswith("request") else of_report,
        "catalog": {"name": version.dataset.name, "number": version.number, "index": 0},
        "evaluation": {"pk": installation.run.pk, "name": version.dataset.name, "number": version.number},
        "projects": {},
        "replication": {},
        "studies": {},
    }[namespace]
    if namespace == "studies" and "slug" in names:
        for study in installation.studies:
            arguments = {"slug": study.slug, "key": "comment", "block": "overall"}
            if names <= arguments.keys():
                yield str(study.status), {argument: arguments[argument] for argument in names}
    elif "chapter" in names:
        for key in KEYS:
            yield key, {**of_report, "chapter": key}
    elif names <= given.keys():
        yield "", {argument: given[argument] for argument in names}

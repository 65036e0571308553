"""Packages, disk, private files and compiled kernels of this machine."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from django.conf import settings

from core.provenance import CODE_VERSION
from evaluation.services.numerics import kernel_modules
from parallax.doctor.diagnosis import Diagnosis, advice, ok, problem

LEAST_FREE, LITTLE_FREE = 500e6, 5e9  # bytes
OWNER_ONLY = 0o077
PIN = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[\w+\])?==(\S+)", re.MULTILINE)


def check_versions() -> Iterator[Diagnosis]:
    """The installed packages are those that this version pins."""
    files = ["requirements.txt", *(["requirements-s3.txt"] if settings.ARTEFACTS_S3 else [])]
    pins = PIN.findall("".join((Path(settings.BASE_DIR) / file).read_text() for file in files))
    differing = []
    for name, version in pins:
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed = "missing"
        if installed != version:
            differing.append(f"{name} {installed} instead of {version}")
    if differing:
        yield problem("Packages", f"{', '.join(differing)}.", "Run `make install`, then restart all processes.")
    else:
        yield ok(
            "Packages", f"Parallax {CODE_VERSION}, Python {platform.python_version()}, {len(pins)} packages as pinned."
        )


def check_disk() -> Iterator[Diagnosis]:
    """There is space for answers, models and reports."""
    free = shutil.disk_usage(settings.VAR_DIR).free
    what = f"{free / 1e9:.1f} GB are free in {settings.VAR_DIR}."
    remedy = "Free some space, or move PARALLAX_VAR to a larger disk."
    if free < LEAST_FREE:
        yield problem("Disk", what, remedy)
    elif free < LITTLE_FREE:
        yield advice("Disk", what, remedy)
    else:
        yield ok("Disk", what)


def check_private_files() -> Iterator[Diagnosis]:
    """Other accounts of the machine can read nothing in the folder of data."""
    var = Path(settings.VAR_DIR)
    if not var.stat().st_mode & OWNER_ONLY:  # nothing below it can be reached
        yield ok("Permissions", f"Only this account can read {var}.")
        return
    yield problem("Permissions", f"Other accounts of this machine can read {var}.", f"Run `chmod -R go= {var}`.")


def check_kernels() -> Iterator[Diagnosis]:
    """The numeric kernels are compiled, so that no participant or run waits for that."""
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    compiled = {index.name.split(".", 1)[0] for index in folder.rglob("*.nbi")}
    missing = [module for module in kernel_modules() if module.rsplit(".", 1)[1] not in compiled]
    if missing:
        yield advice(
            "Numeric kernels",
            f"{len(missing)} modules are not compiled; their first use takes seconds longer.",
            "Run `.venv/bin/python manage.py compile_kernels`.",
        )
    else:
        yield ok("Numeric kernels", "All are compiled.")

"""All checks of an installation, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from parallax.doctor import machine, services, stored_files
from parallax.doctor.diagnosis import Diagnosis

CHECKS: tuple[Callable[[], Iterator[Diagnosis]], ...] = (
    machine.check_versions,
    services.check_settings,
    machine.check_private_files,
    machine.check_disk,
    services.check_database_state,
    stored_files.check_storages,
    stored_files.check_import_folder,
    services.check_clock,
    services.check_broker,
    services.check_workers,
    services.check_mail,
    machine.check_kernels,
)


def diagnoses() -> Iterator[Diagnosis]:
    """What every check says; nothing is changed."""
    for check in CHECKS:
        yield from check()

"""Interim names that the settings and pages rely on; the charting builder replaces this module."""

STYLE_HASHES: tuple[str, ...] = ()


def page_runtime() -> str:
    return ""

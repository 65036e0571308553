"""Files on the server that may be imported: those beneath one configured folder, and no others."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from django.conf import settings

from core.errors import ParallaxError

MOST_LISTED = 100


def import_folder() -> Path | None:
    """The folder whose files may be imported (`PARALLAX_IMPORT_DIR`); None where the installation has none."""
    return Path(settings.IMPORT_DIR).resolve() if settings.IMPORT_DIR else None


def server_file(text: str) -> Path:
    """The file or folder at a path relative to the import folder, links followed. Raises ParallaxError for
    `import.bad_path`: it is outside the folder, or not there.
    """
    folder = import_folder()
    inside = PurePosixPath(text.strip())
    if folder is None:
        raise ParallaxError("import.bad_path", "This installation has no folder for files on the server.")
    if "\0" in text or inside.is_absolute() or ".." in inside.parts:
        raise ParallaxError(
            "import.bad_path", f"{text!r} is not a path beneath the import folder. Write it relative to that folder."
        )
    path = (folder / inside).resolve()
    if not path.is_relative_to(folder) or path == folder:
        raise ParallaxError("import.bad_path", f"{text!r} is outside the import folder. Copy the file into the folder.")
    if not path.exists():
        raise ParallaxError("import.bad_path", f"There is no {text!r} in the import folder. Check the spelling.")
    return path


def server_files() -> list[str]:
    """The files and folders directly in the import folder by name, at most a hundred."""
    folder = import_folder()
    if folder is None or not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))[:MOST_LISTED]

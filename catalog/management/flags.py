"""The flags of the import commands, by the options of the import service that they set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.errors import ParallaxError

FLAGS: Mapping[str, str] = {
    "on_bad_row": "--drop-bad-rows",
    "duplicates": "--keep-last",
    "format": "--format NAME",
    "usage": "--usage",
    "scale": "--scale LOW:HIGH:STEP",
    "zeros": "--zeros",
    "delimiter": "--delimiter CHARACTER",
    "decimal": "--decimal ,",
    "encoding": "--encoding NAME",
    "items_encoding": "--items-encoding NAME",
    "has_header": "--no-header",
    "items_file": "--items-file FILE",
    "items_id": "--items-id-column COLUMN",
    "features": "--feature KIND=COLUMN",
    "feature_separator": "--feature-separator TEXT",
    "item_utility": "--item-utility-column COLUMN",
    **{
        name: f"--{name}-column COLUMN"
        for name in ("user", "item", "rating", "time", "utility", "title", "year", "plot", "image", "trailer")
    },
}


def in_flags(refusal: ParallaxError) -> str:
    """A refusal of an import as a command prints it: options are named by their flags."""
    if "untaken" in refusal.extra:
        accepted = _listed(refusal.extra["taken"]) or "none of these options: its columns are fixed"
        return (
            f"Format {refusal.extra['format']} does not take {_listed(refusal.extra['untaken'])}; it takes {accepted}."
        )
    flags = _listed(refusal.extra.get("options", ()))
    return f"{refusal} Use {flags}." if flags else str(refusal)


def _listed(options: Iterable[str]) -> str:
    return ", ".join(FLAGS[name] for name in options)

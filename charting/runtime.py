"""The script that draws charts on pages: built once at installation, and served as a static file.

`python -m charting.runtime` builds it, which takes two seconds and 100 MB; no web process ever does.
"""

from __future__ import annotations

import gzip
import os
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "static" / "built"
# The pinned library determines the content, so browsers may keep a file of this name for ever.
NAME = f"vega-{metadata.version('vl-convert-python')}.js"


def build_runtime(folder: Path = FOLDER) -> None:
    """Write the script that gives a page ``window.vegaEmbed``, and a compressed copy, unless both are there: about
    0.9 MB of JavaScript without any reference to the network.
    """
    script, compressed = folder / NAME, folder / f"{NAME}.gz"
    if script.exists() and compressed.exists():
        return
    import vl_convert

    content = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").encode()
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)  # the account that serves it may be another one
    for file, data in ((compressed, gzip.compress(content, mtime=0)), (script, content)):
        part = file.with_name(f".{file.name}.{os.getpid()}")
        part.write_bytes(data)
        part.chmod(0o644)
        part.replace(file)


if __name__ == "__main__":
    build_runtime()

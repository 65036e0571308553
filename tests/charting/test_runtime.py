"""The script that draws charts on pages: built once, beforehand, and never by the process that serves it."""

from __future__ import annotations

import gzip
from importlib import metadata
from pathlib import Path

from charting import runtime


def test_built_once_under_a_name_that_says_its_version(tmp_path: Path) -> None:
    folder = tmp_path / "built"
    runtime.build_runtime(folder)
    script = folder / runtime.NAME
    assert metadata.version("vl-convert-python") in script.name
    assert "window.vegaEmbed" in script.read_text()
    assert gzip.decompress((folder / f"{script.name}.gz").read_bytes()) == script.read_bytes()
    assert sorted(folder.iterdir()) == [script, folder / f"{script.name}.gz"]
    script.write_text("kept")
    runtime.build_runtime(folder)
    assert script.read_text() == "kept"

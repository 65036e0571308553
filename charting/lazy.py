"""The one lazy door to the libraries that draw.

Importing altair takes about half a second, and every web process imports this package at its start. Modules
here write ``from charting.lazy import altair``; the library behind the name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair
    import vl_convert
else:

    class _Door:
        """Stands for a module until one of its attributes is asked for."""

        def __init__(self, module_name: str) -> None:
            self._module_name = module_name

        def __getattr__(self, attribute: str) -> object:
            # Once found, an attribute is kept on the door itself: only the first use pays.
            found = getattr(importlib.import_module(self._module_name), attribute)
            setattr(self, attribute, found)
            return found

    altair = _Door("altair")
    vl_convert = _Door("vl_convert")

__all__ = ["altair", "vl_convert"]

"""The one lazy door to the heavy libraries.

Importing ``scipy.stats`` or ``statsmodels`` takes most of a second, and every web process imports this package
at its start.
Modules here write ``from inference.lazy import stats``; the library behind the name is loaded when it is
first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy import linalg, optimize, sparse, special, stats
    from statsmodels.miscmodels import ordinal_model
else:

    class _Door:
        """Stands for a module until one of its attributes is asked for."""

        def __init__(self, module_name: str) -> None:
            self._module_name = module_name

        def __getattr__(self, attribute: str) -> object:
            # importlib keeps the loaded module in sys.modules, so only the first call pays.
            found = getattr(importlib.import_module(self._module_name), attribute)
            setattr(self, attribute, found)
            return found

    linalg = _Door("scipy.linalg")
    optimize = _Door("scipy.optimize")
    ordinal_model = _Door("statsmodels.miscmodels.ordinal_model")
    sparse = _Door("scipy.sparse")
    special = _Door("scipy.special")
    stats = _Door("scipy.stats")

__all__ = ["linalg", "optimize", "ordinal_model", "sparse", "special", "stats"]

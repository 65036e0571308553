"""The documentation site: Sphinx with MyST and Furo, over the pages that installations serve under `/help/`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import django

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()  # entries are read from the commands, models and settings

from core.provenance import CODE_VERSION  # noqa: E402 -- found only by the path above

project = "Parallax"
author = "Parallax contributors"
copyright = author
version = release = CODE_VERSION

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "pages"]
root_doc = "README"
exclude_patterns = ["_site"]
highlight_language = "none"
default_role = "code"  # of docstrings: `n` is a name
myst_heading_anchors = 4
nb_execution_mode = "off"  # `make notebooks` runs them

html_theme = "furo"
html_title = f"Parallax {version}"
html_math_renderer = "mathml"
html_copy_source = False
html_use_index = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "static" / "scorer.js")
# The addresses of the source and of its issues are settings of the build; without them, nothing links there.
SOURCE, ISSUES = (os.environ.get(f"PARALLAX_DOCS_{name}", "").rstrip("/") for name in ("SOURCE", "ISSUES"))
html_theme_options = {
    "source_repository": SOURCE,
    "source_branch": os.environ.get("PARALLAX_DOCS_BRANCH", "main"),
    "source_directory": "docs/",
    "footer_icons": [{"name": "Issues", "url": ISSUES, "html": "Report a fault", "class": ""}] if ISSUES else [],
    "light_css_variables": {"color-brand-primary": "#1d4f91", "color-brand-content": "#1d4f91"},
    "dark_css_variables": {"color-brand-primary": "#9cc2f5", "color-brand-content": "#9cc2f5"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

"""Static files have names with a hash of their content, by which browsers keep them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client

from parallax.static_files import hashed_name


def test_a_name_holds_the_hash_of_its_content(tmp_path: Path, settings) -> None:  # type: ignore[no-untyped-def]
    assert re.fullmatch(r"/static/css/base\.[0-9a-f]{12}\.css", static("css/base.css"))
    name = hashed_name("css/base.css")
    assert finders.find(name) == finders.find("css/base.css")
    stale = re.sub(r"[0-9a-f]{12}", "0" * 12, name)
    assert finders.find(stale) is None
    assert hashed_name("css/no-such.css") == "css/no-such.css"
    assert static("built/vega-1.9.0.post1.js") == "/static/built/vega-1.9.0.post1.js"  # says its version already


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "is_kept"),
    [("css/base.css", False), (hashed_name("css/base.css"), True), (hashed_name("js/outbox.js"), True)],
)
def test_browsers_keep_what_has_a_hash_and_ask_again_for_the_rest(name: str, is_kept: bool) -> None:
    answer = Client().get(f"/static/{name}")
    answer.close()  # the file
    assert answer.status_code == 200
    assert ("immutable" in answer.headers["Cache-Control"]) == is_kept

"""A clip plays in Chromium, on the details sheet and without scripts, and stops when the sheet is closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from catalog.demo.works import CLIPS_FOLDER
from catalog.services import add_metadata
from studies.design.services.launch import launch_study
from studies.models import Event
from tests.e2e.clicker import until
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.factories.walking import Person

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True), pytest.mark.slow]

PLAYING = "video => !video.paused && video.currentTime > 0.3"


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_clip_plays_and_seeks(live_server: Any, browser: Browser, tmp_path: Path, has_scripts: bool) -> None:
    (tmp_path / "facts.csv").write_text("item,video\n1,drama.webm\n")
    version = add_metadata(version=make_version(), path=tmp_path / "facts.csv", media=CLIPS_FOLDER / "drama.webm")
    study = make_study(run=make_run_at("succeeded", version=version))
    item = version.items.get(index=0)
    context = browser.new_context(java_script_enabled=has_scripts, viewport={"width": 390, "height": 800})
    page = context.new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/clips/" in request.url else None)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(f"{live_server.url}{Person(study).to('rate').base}rate/?q=Film+01")
    page.locator(f"#film-{item.pk} summary").click()
    page.locator(f"#film-{item.pk} a[href*='/details/{item.pk}/']").click()
    video = page.locator("video")
    expect(video).to_be_visible()
    assert not sent  # nothing is loaded before it is played
    if not has_scripts:
        assert video.get_attribute("controls") is not None
        return
    video.focus()
    page.keyboard.press("Space")  # the browser's own controls
    until(lambda: bool(video.evaluate(PLAYING)), page, "the clip to play")
    video.evaluate("video => { video.currentTime = 4; }")
    until(lambda: video.evaluate("video => video.currentTime") > 4, page, "the clip to play on from there")
    assert Event.objects.filter(kind="trailer_opened").count() == 1
    page.locator("#sheet form.close button").click()
    until(lambda: bool(video.evaluate("video => video.paused")), page, "the clip to stop")
    assert problems == []
    context.close()


def test_the_seconds_that_a_clip_plays_are_counted(live_server: Any, browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("item,video\n1,drama.webm\n")
    version = add_metadata(version=make_version(), path=tmp_path / "facts.csv", media=CLIPS_FOLDER / "drama.webm")
    version.items.update(clip=version.items.get(index=0).clip)
    run = make_run_at("succeeded", version=version)
    study = make_study(status="draft", run=run, settings={"recorded": ["played"]})
    for texts in study.texts.values():
        texts["consent"] += " {recorded_behaviour}"
    study.save()
    launch_study(study=study)
    study.refresh_from_db()
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(f"{live_server.url}{Person(study).to('item').base}items/1/1/")
    page.locator("[data-plays]").click()
    video = page.locator("#player video")
    until(lambda: bool(video.evaluate(PLAYING)), page, "the clip to play")
    page.wait_for_timeout(1500)
    page.locator("#player button").click()
    until(Event.objects.filter(kind="sample_played").exists, page, "how long it was played")
    event = Event.objects.get(kind="sample_played")
    assert (event.page, event.rank, event.seconds) == ("items", 1, None)
    assert event.facts["item"] == event.participant.recommendation_list.slots.get(rank=1).item.external_id
    assert 1.5 <= event.facts["seconds"] <= 10
    page.close()

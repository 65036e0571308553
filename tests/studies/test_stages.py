"""A study as a line of stages: open points, autosave's answers, conflicts, and what is read-only after the launch."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from core.models import LogEntry
from studies.console.stages import STAGES, open_points
from studies.console.views.autosave import HEADER
from studies.design.selectors.launch_overview import planned_power
from studies.design.selectors.stated_facts import stated_facts
from studies.design.services.design import change_design
from studies.design.services.duplicating import duplicate_study
from studies.design.services.launch import close_study, launch_study
from studies.enums import Role
from studies.models import Study
from studies.monitoring.selectors.estimate import estimate_of
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.recruitment import set_panel
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.console import console_url, owner_of, signed_in
from tests.factories.studies import make_study
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

AUTO = {HEADER: "1"}


@pytest.fixture
def draft() -> Study:
    return make_study(status="draft", per_condition=80, seed=None)


@pytest.fixture
def owner(draft: Study) -> Client:
    return owner_of(draft)


def posted_by(page: Any) -> dict[str, list[str]]:
    """What a browser posts of the page's form."""
    (form,) = page.xpath("//form[@id='stage']")
    # A browser also posts what is empty.
    values: dict[str, list[str]] = {name: [""] for name in form.xpath(".//input[@type='number'][not(@value)]/@name")}
    for name, value in form.form_values():
        values.setdefault(name, []).append(value.removeprefix("\n"))  # which a browser leaves out of a text
    return values


def shown(client: Client, study: Study, name: str) -> dict[str, Any]:
    """What a browser posts of a stage that nobody touched."""
    return posted_by(tree(client.get(console_url(name, study))))


def saved(client: Client, study: Study, name: str, posted: dict[str, Any], **changes: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.post(console_url(name, study), {**posted, **changes}, headers=AUTO).json()
    return answer


def states(page: Any) -> dict[str, str]:
    """What the rail says of each stage."""
    names = tree(page).xpath("//ol[@class='line']//span[@class='name']")
    return dict(tuple(part.strip() for part in name.text_content().split(",", 1)) for name in names)


def test_the_rail_counts_open_points_and_knows_what_was_visited(draft: Study, owner: Client) -> None:
    first = states(owner.get(console_url("dataset", draft)))
    assert list(first) == [stage.label for stage in STAGES]
    assert (first["Data"], first["Conditions"]) == ("complete", "not visited")
    assert (first["Plan"], first["Pilot and launch"]) == ("1 open point", "2 open points")
    owner.get(console_url("conditions", draft))
    change_design(study=draft, settings={"hypothesis": "Recall ranks them."})
    later = states(owner.get(console_url("dataset", draft)))
    assert (later["Conditions"], later["Plan"]) == ("complete", "not visited")
    Study.objects.filter(pk=draft.pk).update(texts={**draft.texts, "it": {}})
    assert states(owner.get(console_url("dataset", draft)))["Texts and consent"] == "3 open points"


def test_each_open_point_names_a_field_of_its_stage(draft: Study, owner: Client) -> None:
    draft.conditions.update(target=0)
    draft.texts["en"]["debriefing"] = "You rated nine films."
    draft.settings["ratings_most"] = 38
    draft.save()
    points = open_points(draft)
    fields = {stage.key: {point.field for point in points[stage.key]} for stage in STAGES}
    assert fields["participants"] == {"per_condition"}
    assert fields["flow"] == {"ratings_asked"}
    assert fields["texts"] == {"debriefing_en"}
    assert fields["plan"] == {"hypothesis"}
    for name, key in (("sample", "participants"), ("flow", "flow"), ("texts", "texts"), ("plan", "plan")):
        page = tree(owner.get(console_url(name, draft)))
        for field in fields[key]:
            assert page.xpath(f"//a[@href='#id_{field}']"), field
            assert page.xpath(f"//*[@id='id_{field}' or @id='id_{field}_0']"), field


def test_a_valid_change_is_saved_and_nothing_is_logged_without_one(draft: Study, owner: Client) -> None:
    posted = shown(owner, draft, "flow")
    n_logged = LogEntry.objects.count()
    same = saved(owner, draft, "flow", posted)
    assert same["status"] == "saved"
    assert same["revision"] == posted["revision"][0]
    assert LogEntry.objects.count() == n_logged
    answer = saved(owner, draft, "flow", posted, list_length="7")
    assert answer["status"] == "saved"
    assert answer["revision"] != same["revision"]
    draft.refresh_from_db()
    assert draft.settings["list_length"] == 7


@pytest.mark.parametrize("name", ["dataset", "conditions", "flow", "texts", "sample", "plan"])
def test_a_stage_saved_as_it_stands_changes_nothing(draft: Study, owner: Client, name: str) -> None:
    before = (draft.title, draft.settings, draft.texts, draft.questionnaire)
    assert saved(owner, draft, name, shown(owner, draft, name))["status"] == "saved"
    draft.refresh_from_db()
    assert (draft.title, draft.settings, draft.texts, draft.questionnaire) == before


def test_an_invalid_field_is_not_saved_and_the_others_are(draft: Study, owner: Client) -> None:
    posted = shown(owner, draft, "flow")
    answer = saved(owner, draft, "flow", posted, list_length="many", ratings_asked="4", ratings_most="5")
    assert answer["status"] == "invalid"
    assert answer["errors"] == {"list_length": ["Enter a whole number."]}
    draft.refresh_from_db()
    assert (draft.settings["list_length"], draft.settings["ratings_asked"]) == (5, 4)
    together = saved(owner, draft, "flow", shown(owner, draft, "flow"), ratings_asked="9")
    assert list(together["errors"]) == ["ratings_most"]
    draft.refresh_from_db()
    assert draft.settings["ratings_asked"] == 4, "the two numbers are right only together"


def test_a_wrong_row_of_a_table_is_not_saved_and_the_rest_of_the_stage_is(draft: Study, owner: Client) -> None:
    posted = shown(owner, draft, "sample")
    answer = saved(owner, draft, "sample", posted, youngest="21", **{"quotas0-most": "5"})
    assert answer["status"] == "invalid"
    assert list(answer["errors"]) == ["quotas0-question"]
    draft.refresh_from_db()
    assert draft.settings["quotas"] == []
    assert next(q for q in draft.questionnaire["about"] if q["key"] == "age")["admits"]["minimum"] == 21


def test_a_refusal_of_the_service_is_at_its_field(draft: Study, owner: Client) -> None:
    posted = shown(owner, draft, "conditions")
    answer = saved(owner, draft, "conditions", posted, recommenders=posted["recommenders"][:1])
    assert answer["errors"] == {"recommenders": ["A comparison needs at least 2 conditions."]}
    assert draft.conditions.count() == 2


class TestConflict:
    def _by_ada(self, draft: Study, **settings: Any) -> None:
        ada = UserFactory(name="Ada")
        add_member(study=draft, email=ada.email, role=Role.OWNER)
        change_design(study=draft, actor=ada, settings=settings)

    def test_the_other_wording_is_shown_before_anything_is_stored(self, draft: Study, owner: Client) -> None:
        posted = shown(owner, draft, "plan")
        self._by_ada(draft, hypothesis="Theirs.", effect=0.3)
        answer = saved(owner, draft, "plan", posted, hypothesis="Mine.")
        assert (answer["status"], answer["who"]) == ("conflict", "Ada")
        assert {field["name"]: (field["values"], field["is_clash"]) for field in answer["fields"]} == {
            "hypothesis": (["Theirs."], True),
            "effect": (["0.3"], False),
        }
        draft.refresh_from_db()
        assert draft.settings["hypothesis"] == "Theirs."
        kept = saved(owner, draft, "plan", posted, hypothesis="Mine.", effect="0.3", revision=answer["revision"])
        assert kept["status"] == "saved"
        draft.refresh_from_db()
        assert (draft.settings["hypothesis"], draft.settings["effect"]) == ("Mine.", 0.3)

    def test_a_change_of_another_stage_is_none(self, draft: Study, owner: Client) -> None:
        posted = shown(owner, draft, "plan")
        self._by_ada(draft, idle_minutes=30)
        assert saved(owner, draft, "plan", posted, hypothesis="Mine.")["status"] == "saved"

    def test_without_scripts_the_page_shows_it_and_a_second_save_keeps_mine(self, draft: Study, owner: Client) -> None:
        posted = shown(owner, draft, "plan")
        self._by_ada(draft, hypothesis="Theirs.")
        page = tree(owner.post(console_url("plan", draft), {**posted, "hypothesis": "Mine."}))
        (notice,) = page.xpath("//div[@id='conflict']")
        assert "Ada changed this stage" in notice.text_content()
        assert "Theirs." in notice.text_content()
        again = posted_by(page)
        assert again["hypothesis"] == ["Mine."]
        assert owner.post(console_url("plan", draft), again).status_code == 302
        draft.refresh_from_db()
        assert draft.settings["hypothesis"] == "Mine."


def test_without_scripts_next_saves_and_goes_on_and_an_error_stays(draft: Study, owner: Client) -> None:
    posted = shown(owner, draft, "flow")
    onward = owner.post(console_url("flow", draft), {**posted, "list_length": "6", "next": "1"})
    assert onward.url == console_url("questionnaire", draft)  # type: ignore[attr-defined]
    page = owner.post(console_url("flow", draft), {**posted, "list_length": "", "next": "1"})
    assert page.status_code == 200
    assert "Not saved" in " ".join(tree(page).xpath("string(//span[@id='save-status'])").split())


def test_after_the_launch_stages_are_read_only_and_offer_the_amendment(draft: Study, owner: Client) -> None:
    posted = shown(owner, draft, "texts")
    launch_study(study=draft)
    answer = saved(owner, draft, "texts", posted, title_en="Other")
    assert answer["status"] == "refused"
    assert set(states(owner.get(console_url("texts", draft))).values()) == {"read-only"}
    for name in ("dataset", "conditions", "flow", "texts", "sample", "plan"):
        page = tree(owner.get(console_url(name, draft)))
        controls = page.xpath("//form[@id='stage']//*[self::select or self::textarea or self::input[@type!='hidden']]")
        assert all("disabled" in control.attrib for control in controls), name
        assert not page.xpath("//form[@data-autosave]")
    page = tree(owner.get(console_url("texts", draft)))
    draft.refresh_from_db()
    beside = page.xpath("//div[.//textarea[@id='id_contact_en']][last()]/p[@class='amend']")[0]
    assert " ".join(beside.text_content().split()).endswith(f"Changes the design hash {draft.design_hash[:6]}")
    links = page.xpath("//p[@class='amend']/a/@href")
    assert len(links) == 5 * len(draft.design.languages), "consent, its boxes, contact, declined, closed"
    for link in [*links, *tree(owner.get(console_url("sample", draft))).xpath("//p[@class='amend']/a/@href")]:
        address, field = link.split("#")
        assert tree(owner.get(address)).xpath(f"//main//*[@id='{field}'][not(@disabled)]"), link
    close_study(study=draft)
    assert not tree(owner.get(console_url("texts", draft))).xpath("//p[@class='amend']")


def test_an_analyst_reads_the_stages_and_changes_nothing(draft: Study, owner: Client) -> None:
    analyst = UserFactory()
    add_member(study=draft, email=analyst.email, role=Role.ANALYST)
    posted = shown(owner, draft, "dataset")
    assert saved(signed_in(analyst), draft, "dataset", posted, title="Mine")["status"] == "refused"
    assert "Only the study’s owners" in signed_in(analyst).get(console_url("dataset", draft)).text
    draft.refresh_from_db()
    assert draft.title != "Mine"


def test_the_preview_shows_the_consent_page_in_each_language(draft: Study, owner: Client) -> None:
    change_design(study=draft, texts={"it": {"consent": "Partecipi **davvero**?"}})
    page = owner.get(f"{console_url('texts-preview', draft)}?lang=it")
    assert "<strong>davvero</strong>" in page.text
    assert 'lang="it"' in page.text
    assert page.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_the_consent_states_the_estimated_minutes_and_the_ages_and_the_launch_freezes_them(draft: Study) -> None:
    def consent(language: str) -> str:
        return " ".join(tree(Client().get(f"/s/{draft.slug}/?lang={language}")).xpath("string(//main)").split())

    change_design(study=draft, ages=(20, 50))
    launch_study(study=draft)
    draft.refresh_from_db()
    minutes = draft.settings["stated_minutes"]
    assert minutes == round(estimate_of(draft).minutes)
    assert f"about {minutes} minutes" in consent("en")
    assert "I am between 20 and 50 years old." in consent("en")
    assert "Ho tra 20 e 50 anni." in consent("it")
    Study.objects.filter(pk=draft.pk).update(settings={**draft.settings, "stated_minutes": 31})
    assert "circa 31 minuti" in consent("it")


def test_a_copy_of_a_launched_study_states_its_own_minutes(draft: Study) -> None:
    launch_study(study=draft)
    copy = duplicate_study(study=draft, slug="copy", title="Copy")
    Study.objects.filter(pk=copy.pk).update(settings={**copy.settings, "stated_minutes": 31})
    copy.refresh_from_db()
    assert stated_facts(copy).minutes != 31


def test_the_launch_page_applies_a_fix(owner: Client, draft: Study) -> None:
    consent = "It takes about **15 minutes**. " + "Please read on. " * 120
    change_design(study=draft, texts={"en": {"consent": consent}}, per_condition=20)
    draft.refresh_from_db()
    address = console_url("launch", draft)

    def advised() -> dict[str, str]:
        lines = tree(owner.get(address)).xpath("//section[@aria-labelledby='advice']//li")
        return {line.xpath("string(.//button | a)"): line.xpath("string(p)").split(":")[0] for line in lines}

    before = advised()
    minutes = stated_facts(draft).minutes
    assert before[f"Use {minutes} minutes"].startswith("The consent text in English says 15 minutes")
    assert before["Reach a power of .80"].startswith("Power is ")
    (shorten,) = [button for button in before if button.startswith("Shorten the consent text")]
    assert "365 words" in before[shorten]
    for fix in ("minutes", "power"):
        owner.post(address, {"fix": fix})
    draft.refresh_from_db()
    assert draft.texts["en"]["consent"].startswith("It takes about **{minutes} minutes**.")
    target = draft.conditions.first().target  # type: ignore[union-attr]
    assert planned_power(draft, target - 1) < 0.8 <= planned_power(draft, target)
    assert not {"Reach a power of .80", f"Use {minutes} minutes"} & set(advised())


def test_an_incomplete_language_is_needed_and_left_out_by_a_fix(owner: Client, draft: Study) -> None:
    draft.texts["it"]["consent"] = ""
    draft.save(update_fields=["texts"])
    address = console_url("launch", draft)
    needed = tree(owner.get(address)).xpath("//section[@aria-labelledby='needed']//li")
    assert [line.xpath("string(.//button)") for line in needed] == ["Leave out Italian"]
    owner.post(address, {"fix": "languages"})
    draft.refresh_from_db()
    assert draft.design.languages == ("en",)
    assert not tree(owner.get(address)).xpath("//section[@aria-labelledby='needed']")


def test_every_line_of_the_launch_page_opens_a_field_that_is_there(owner: Client, draft: Study) -> None:
    set_panel(study=draft, panel="prolific")
    draft.conditions.update(target=0)
    draft.texts["en"] |= {"consent": "word " * 360, "debriefing": "You rated nine films.", "declined": ""}
    draft.texts["it"]["declined"] = "Grazie."
    draft.save(update_fields=["texts"])
    lines = tree(owner.get(console_url("launch", draft))).xpath(
        "//ul[@class='checks']//a[contains(@href, '#id_')]/@href"
    )
    fields = dict(line.split("#") for line in lines)
    assert fields[console_url("recruiting", draft)] == "id_exits"
    for line in set(lines):
        address, field = line.split("#")
        assert tree(owner.get(address)).xpath(f"//*[@id='{field}']"), line


def test_the_panel_and_the_limits_are_fields_of_a_draft(owner: Client, draft: Study) -> None:
    posted = shown(owner, draft, "sample")
    answer = saved(owner, draft, "sample", posted, entrance="panel_id", pause_at="40", longest_gap_minutes="5")
    assert (answer["status"], list(answer["errors"])) == ("invalid", ["entrance"])
    how = recruiting_of(draft)
    assert (how.pause_at, how.entrance) == (40, "open")
    posted = shown(owner, draft, "sample")
    assert (posted["pause_at"], posted["longest_gap_minutes"]) == (["40"], ["5"])
    assert saved(owner, draft, "sample", posted, panel="prolific")["status"] == "saved"
    how = recruiting_of(draft)
    assert (how.panel.key, how.entrance, how.pause_at) == ("prolific", "panel_id", 40)

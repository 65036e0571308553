"""Explanations that researchers upload: from the file to the page, the export and the launch check."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from core.errors import ParallaxError
from evaluation.exports import run_document
from parallax.integrity.all_checks import findings
from studies.console.forms.conditions import ConditionsForm
from studies.console.forms.explanations import ExplanationsForm
from studies.design.services.launch import launch_problems, launch_study
from studies.design.services.stored_texts import store_texts
from studies.models import RecommendedItem, Study
from studies.presentation import Presentation
from tests.evaluation.test_uploads import upload
from tests.factories.catalog import make_version
from tests.factories.console import console_url, owner_of
from tests.factories.evaluation import make_run_at
from tests.factories.walking import Person
from tests.studies.test_explanations import crossed_study, explanations
from tests.studies.test_exports import Exported

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def written(path: Path, ids: list[str], languages: tuple[str, ...] = ("en", "it")) -> Path:
    lines = [f'{item},{language},"<b>{language}</b>, {item}"' for item in ids for language in languages]
    path.write_text("\n".join(["item,language,text", *lines]), encoding="utf-8")
    return path


def of_texts(digest: str, **shown: Any) -> dict[str, Any]:
    named = {"texts": digest} if digest else {}
    stored = {"name": "stored", "presentation": {"explanation": "stored", **named, **shown}}
    return {"key": "text", "levels": [{"name": "plain", "presentation": {}}, stored]}


def test_texts_are_shown_escaped_stored_and_exported(tmp_path: Path) -> None:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    ids = list(run.version.items.order_by("index").values_list("external_id", flat=True))
    out = StringIO()
    call_command("upload_explanations", run.version.dataset.name, str(written(tmp_path / "texts.csv", ids)), stdout=out)
    assert f"{len(ids)} of {len(ids)} items" in out.getvalue()
    study = crossed_study("TopPop", "PureSVD4", run=run, texts=of_texts(out.getvalue().split()[-1]))
    form = ConditionsForm(study, researcher=study.researchers.get())
    assert list(form.texts) == ["fallback"]
    launch_study(study=study)
    study = Study.objects.get()
    for _number in range(4):
        person = Person(study).to("recommendations")
        slots = RecommendedItem.objects.filter(recommendation_list__participant=person.me).select_related("item")
        is_stored = person.me.condition.label.endswith("stored")
        expected = [f"<b>en</b>, {slot.item.external_id}" if is_stored else "" for slot in slots.order_by("rank")]
        assert explanations(person.get("recommendations/")) == expected
        person.to("thanks")
    rows = Exported(study, "long").rows()
    assert {(row["factor.text"], row["item.explanation_kind"]) for row in rows} == {("plain", ""), ("stored", "stored")}
    assert not list(findings())


def test_a_launch_names_the_share_of_items_with_a_text(tmp_path: Path) -> None:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    ids = list(run.version.items.order_by("index").values_list("external_id", flat=True))
    english = store_texts(version=run.version, path=written(tmp_path / "texts.csv", ids, ("en",))).digest
    half = store_texts(version=run.version, path=written(tmp_path / "texts.csv", ids[: len(ids) // 2])).digest

    def problem(digest: str, **shown: Any) -> str:
        study = crossed_study("TopPop", texts=of_texts(digest, **shown), run=run)
        problems = launch_problems(study)
        study.delete()
        return " ".join(problems)

    assert problem(english).startswith("TopPop · stored: its stored texts lack it.")
    assert f"TopPop · stored: {len(ids) // 2} of {len(ids)} items (50%) have a stored text." in problem(half)
    assert problem(half, fallback={"en": "Many like it.", "it": "Piace a molti."}) == ""
    assert "TopPop · stored: its stored texts cannot be used." in problem("0" * 64)


def test_a_file_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    version = make_version()
    first, second = version.items.order_by("index").values_list("external_id", flat=True)[:2]
    file = tmp_path / "texts.csv"
    file.write_text(
        f"item,language,text\n{first},en,Good\n{first},en,Better\nnone,en,Good\n{second},xx,Good\n{second},it,\n"
        f"{second},it,{'long' * 41}\n{second}\n"
    )
    with pytest.raises(ParallaxError) as refused:
        store_texts(version=version, path=file)
    for problem in (
        f"Items with two texts in one language (2): line 3 ('{first}, en'); line 7 ('{second}, it').",
        "Unknown items (1): line 4 ('none').",
        "(1): line 5 ('xx').",
        "Texts that are empty or longer than 160 characters (2): line 6 (''); line 7 (",
        f"Lines that are not item,language,text (1): line 8 ('{second}').",
        f"Items without a text in en (1): line 6 ('{second}').",
        f"Items without a text in it (1): line 2 ('{first}').",
    ):
        assert problem in str(refused.value)
    file.write_text("film,text\n")
    with pytest.raises(ParallaxError, match="first line must be item,language,text"):
        store_texts(version=version, path=file)


def test_texts_are_uploaded_where_conditions_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    ids = list(run.version.items.order_by("index").values_list("external_id", flat=True))
    study = crossed_study("TopPop", "PureSVD4", run=run)
    client, page = owner_of(study), console_url("explanations", study)
    assert page in client.get(console_url("conditions", study)).text

    def upload(content: bytes) -> Any:
        return client.post(page, {"file": SimpleUploadedFile("texts.csv", content)}, follow=True)

    refused = upload(b"item,language,text\nnone,en,Good\n")
    assert "texts.csv cannot be used on" in refused.text
    assert "Unknown items (1): line 2 (&#x27;none&#x27;)." in refused.text
    done = upload(written(tmp_path / "texts.csv", ids).read_bytes())
    assert f"{len(ids)} of {len(ids)} items have a text in en, it." in done.text
    study.refresh_from_db()
    (factor,) = (each for each in study.design.factors if not each.is_of_recommenders)
    assert [level.presentation.explanation for level in factor.levels] == ["none", "stored"]
    assert study.conditions.count() == 4
    assert ">Explained<" in done.text
    monkeypatch.setattr(ExplanationsForm.base_fields["file"], "most", 10)
    assert "the limit for uploads is" in upload(b"item,language,text\n").text
    launch_study(study=study)
    assert client.get(page).url == console_url("conditions", study)


def test_only_stored_explanations_name_texts() -> None:
    with pytest.raises(Exception, match="Stored explanations, and no others, state texts"):
        Presentation.model_validate({"explanation": "model", "texts": "0" * 64})
    assert Presentation(explanation="stored").words == "each recommendation explained by its text in the uploaded list"


def test_texts_of_uploaded_lists_are_shown_with_their_rows(tmp_path: Path) -> None:
    exact = {"name": "one-plus-random", "negatives": 20, "relevant": 4.0, "irrelevant": 2.0, "mode": "exact"}
    version = make_version()
    first = make_run_at("succeeded", version=version, protocol=exact)
    ids = list(version.items.order_by("index").values_list("external_id", flat=True))

    def study_of(rows: list[str], *recommenders: str, **shown: Any) -> Study:
        Study.objects.all().delete()
        file = tmp_path / "lists.csv"
        file.write_text("\n".join(["key,item,text_it,text_en", *rows]), encoding="utf-8")
        model = upload(version, "lists", file, run_document(first)["training_hash"], name="Batch")
        batch = f"lists:upload={model.params['upload']},name=Batch"
        run = make_run_at(
            "succeeded", version=version, protocol=exact, algorithms=f"toppop,{batch},{batch}|popularity:strength=1"
        )
        return crossed_study(*recommenders, run=run, texts=of_texts("", **shown))

    labels = ("Batch", "Batch + Popularity 1")
    rows = [f'{key},{item},<i>{key} {item},"{key}, {item}"' for key in ("*", "segment:gender=woman") for item in ids]
    half = [row if number % 2 else f"{','.join(row.split(',')[:2])},," for number, row in enumerate(rows)]
    said = " ".join(launch_problems(study_of(half, "Batch")))
    assert f"Batch · stored: {len(ids)} of {2 * len(ids)} listed items (50%) have a stored text." in said
    texts = {"en": "Many like it.", "it": "Piace a molti."}
    assert launch_problems(study_of(half, "Batch", fallback=texts)) == []
    said = " ".join(launch_problems(study_of(rows, "TopPop")))
    assert "TopPop · stored: its stored texts cannot be used. TopPop (toppop): upload=(none) is not the digest" in said

    study = study_of(rows, *labels)
    launch_study(study=study)
    study.refresh_from_db()
    seen = set()
    for _number in range(4):
        person = Person(study).to("recommendations")
        slots = RecommendedItem.objects.filter(recommendation_list__participant=person.me).select_related("item")
        is_stored = person.me.condition.label.endswith("stored")
        key = "segment:gender=woman" if person.me.responses.get(question="gender").value == "woman" else "*"
        expected = [f"{key}, {slot.item.external_id}" if is_stored else "" for slot in slots.order_by("rank")]
        assert explanations(person.get("recommendations/")) == expected
        seen.add(person.me.condition.label)
        person.to("thanks")
    assert seen == {f"{label} · {text}" for label in labels for text in ("plain", "stored")}
    exported = Exported(study, "long").rows()
    assert {(row["factor.text"], row["item.explanation_kind"]) for row in exported} == {
        ("plain", ""),
        ("stored", "stored"),
    }

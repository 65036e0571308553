"""What an import detects, warns of and advises: decimal commas, dropped rows, finer times; and flags, not arguments."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from catalog.importers import reading, rows
from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedDataset, Policy
from catalog.importers.options import Options
from catalog.importers.scales import text_of
from catalog.management.version_command import FLAGS
from catalog.services.dataset_import import FORMAT_OPTIONS, POLICY_OPTIONS
from tests.factories.accounts import UserFactory
from tests.sentences import assert_sentences_approved

N = 3_000


def table(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def semicolons(*, decimal: str = ",", user: str = "", extra: str = "") -> str:
    lines = ["user;item;rating;timestamp"]
    lines += [f"{user}{at % 50};{at // 2};{1 + at % 9 / 2:.1f};{1_000_000_000 + at}" for at in range(1, N)]
    return "\n".join(line.replace(".", decimal) for line in lines) + f"\n{extra}"


def same(one: ParsedDataset, other: ParsedDataset) -> bool:
    return (
        np.array_equal(one.values, other.values)
        and np.array_equal(one.users, other.users)
        and np.array_equal(one.items_rated, other.items_rated)
        and str(one.scale) == str(other.scale)
    )


@pytest.mark.unit
@pytest.mark.parametrize("reader", ["blocks", "texts", "rows"])
@pytest.mark.parametrize("options", [Options(), Options(decimal=",")], ids=["detected", "declared"])
def test_decimal_commas_are_read_alike_by_every_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, options: Options
) -> None:
    user = "" if reader == "blocks" else "u"
    if reader == "rows":
        monkeypatch.setattr(reading.texts, "_by_arrow", lambda *block: None)
    commas = parse(table(tmp_path, semicolons(user=user)), options=options)
    points = parse(table(tmp_path, semicolons(decimal=".", user=user)))
    assert same(commas, points)
    assert text_of(commas.scale) == "1:5:0.5"


@pytest.mark.unit
def test_quoted_commas_among_commas_are_read(tmp_path: Path) -> None:
    path = table(tmp_path, 'user,item,rating\n1,1,"4,5"\n1,2,3\n2,1,"3,5"\n')
    assert parse(path, options=Options(decimal=",")).values.tolist() == [4.5, 3.0, 3.5]


@pytest.mark.unit
def test_prices_of_items_may_have_decimal_commas(tmp_path: Path) -> None:
    prices = table(tmp_path, "item;title;price\n1;One;2,50\n2;Two;1,00\n", "items.csv")
    options = Options(decimal=",", items_file=prices, item_utility="price", usage=True)
    dataset = parse(table(tmp_path, "user;item\na;1\nb;2\n"), options=options)
    assert [item.features for item in dataset.items] == [(("utility", "2.5"),), (("utility", "1.0"),)]


@pytest.mark.unit
@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_bad_values_with_commas_only_get_a_hint(tmp_path: Path, policy: Any) -> None:
    points = Options(decimal=".", rating="rating")
    with pytest.raises(ImportRefused) as refused:
        parse(table(tmp_path, "user;item;rating\n1;1;4,5\n1;2;3,5\n"), options=points, policy=Policy(on_bad_row=policy))
    assert refused.value.options == ("decimal",)
    with pytest.raises(ImportRefused) as refused:
        parse(table(tmp_path, "user;item;rating\n1;1;4,5\n1;2;many\n1;3;2\n"))
    assert refused.value.options == ("on_bad_row",)


@pytest.mark.unit
def test_dropping_many_rows_warns(tmp_path: Path) -> None:
    text = "user;item;rating\n" + "".join(
        f"{at % 2};{at // 2};{at % 5 + 1}{',5' if at % 3 == 0 else ''}\n" for at in range(90)
    )
    report = parse(table(tmp_path, text), options=Options(decimal="."), policy=Policy(on_bad_row="drop")).report
    assert_sentences_approved("warnings/dropped", {"30 of 90 rows": report.warnings})


@pytest.mark.unit
def test_dropping_few_rows_is_silent(tmp_path: Path) -> None:
    text = "user;item;rating\n" + "".join(f"{at % 2};{at // 2};{at % 5 + 1}\n" for at in range(98)) + ";48;3\n"
    report = parse(table(tmp_path, text), policy=Policy(on_bad_row="drop")).report
    assert report.dropped == {"missing field": 1}
    assert report.warnings == ()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("factor", "unit"), [(1, ""), (1_000, "milliseconds"), (1_000_000, "microseconds"), (1_000_000_000, "nanoseconds")]
)
def test_finer_times_are_converted_and_that_is_said(tmp_path: Path, factor: int, unit: str) -> None:
    text = "user,item,rating,timestamp\n" + "".join(
        f"{at % 2},{at // 2},{at % 5 + 1},{(1_200_000_000 + at) * factor}\n" for at in range(20)
    )
    dataset = parse(table(tmp_path, text))
    assert dataset.timestamps is not None
    assert dataset.timestamps.tolist() == [1_200_000_000 + at for at in range(20)]
    said = [f"The times in column timestamp are {unit} since 1970; they were converted to seconds."] if unit else []
    assert [each for each in dataset.report.warnings if "since 1970" in each] == said


@pytest.mark.unit
def test_mixed_units_of_time_are_kept_and_said(tmp_path: Path) -> None:
    text = "user,item,rating,timestamp\n1,1,1,1200000000\n1,2,2,1200000000000\n"
    dataset = parse(table(tmp_path, text))
    assert dataset.timestamps is not None
    assert dataset.timestamps.tolist() == [1_200_000_000, 1_200_000_000_000]
    assert_sentences_approved("warnings/times", {"seconds and milliseconds": dataset.report.warnings})


def imported(*arguments: str) -> str:
    out = io.StringIO()
    call_command("import_dataset", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.integration
@pytest.mark.django_db
def test_command_reads_decimal_commas_and_prints_warnings(tmp_path: Path) -> None:
    said = imported(str(table(tmp_path, semicolons())), "--name", "small")
    assert "steps of 0.5" in said
    dropped = imported(
        str(table(tmp_path, "user;item;rating\n1;1;4\n1;2;many\n1;3;3\n")), "--name", "small", "--drop-bad-rows"
    )
    assert "1 of 3 rows (33%)" in dropped


@pytest.mark.unit
def test_every_option_of_an_import_has_a_flag_and_no_message_names_arguments() -> None:
    assert set(FLAGS) >= set(FORMAT_OPTIONS) | set(POLICY_OPTIONS)
    for file in Path(rows.__file__).parent.rglob("*.py"):
        for text in re.findall(r'"[^"\n]*"', file.read_text()):
            assert "on_bad_row=" not in text, file
            assert "duplicates=" not in text, file


@pytest.mark.integration
@pytest.mark.django_db
def test_page_shows_the_first_and_the_last_rating(tmp_path: Path, client: Client) -> None:
    client.force_login(UserFactory())
    imported(str(table(tmp_path, semicolons(decimal="."))), "--name", "small")
    page = client.get("/catalog/small/1/", follow=True).content.decode()
    assert 'datetime="2001-09-09T01:46:41+00:00"' in page
    imported(str(table(tmp_path, "user,item,rating\n1,1,4\n1,2,3\n")), "--name", "timeless")
    timeless = client.get("/catalog/timeless/1/", follow=True).content.decode()
    assert timeless.count("<time") == page.count("<time") - 2

"""What an import detects, warns of and advises: decimal commas, dropped rows, finer times; and flags, not arguments."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from catalog.importers import reading, rows
from catalog.importers.auto import parse
from catalog.importers.base import ImportRefused, ParsedDataset, Policy
from catalog.importers.options import Options
from catalog.management.version_command import FLAGS
from catalog.services.dataset_import import FORMAT_OPTIONS, POLICY_OPTIONS
from tests.factories.accounts import UserFactory

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
    assert str(commas.scale) == "1 to 5 in steps of 0.5, detected from the ratings"


@pytest.mark.unit
@pytest.mark.parametrize("user", ["", "u"])
def test_points_are_no_numbers_where_commas_are_declared(tmp_path: Path, user: str) -> None:
    with pytest.raises(ImportRefused, match=r"line 4, column rating: '4.5' is not a number"):
        parse(
            table(tmp_path, f"user;item;rating\n{user}1;1;4,5\n{user}1;2;3\n{user}1;3;4.5\n"),
            options=Options(decimal=","),
        )


@pytest.mark.unit
def test_quoted_commas_among_commas_are_read(tmp_path: Path) -> None:
    path = table(tmp_path, 'user,item,rating\n1,1,"4,5"\n1,2,3\n2,1,"3,5"\n')
    assert parse(path, options=Options(decimal=",")).values.tolist() == [4.5, 3.0, 3.5]
    # Without quotation marks such a row has a field too many, and is not taken for another number.
    with pytest.raises(ImportRefused, match="the line has 4 fields where 3 belong"):
        parse(table(tmp_path, "user,item,rating\n1,1,4,5\n1,2,3,5\n"), options=Options(decimal=","))


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
    with pytest.raises(ImportRefused, match="All bad values look like 4,5: import with a decimal comma") as refused:
        parse(table(tmp_path, "user;item;rating\n1;1;4,5\n1;2;3,5\n"), options=points, policy=Policy(on_bad_row=policy))
    assert refused.value.options == ("decimal",)
    with pytest.raises(ImportRefused, match="Correct the source") as refused:
        parse(table(tmp_path, "user;item;rating\n1;1;4,5\n1;2;many\n1;3;2\n"))
    assert refused.value.options == ("on_bad_row",)


@pytest.mark.unit
def test_dropping_many_rows_warns(tmp_path: Path) -> None:
    text = "user;item;rating\n" + "".join(
        f"{at % 2};{at // 2};{at % 5 + 1}{',5' if at % 3 == 0 else ''}\n" for at in range(90)
    )
    report = parse(table(tmp_path, text), options=Options(decimal="."), policy=Policy(on_bad_row="drop")).report
    assert any(each.startswith("30 of 90 rows (33%) were dropped as bad.") for each in report.warnings)
    assert any("All dropped values look like 4,5" in each for each in report.warnings)


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
    assert "1 of 2 times in column timestamp" in dataset.report.warnings[0]


def imported(*arguments: str) -> str:
    out = io.StringIO()
    call_command("import_dataset", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("user;item;rating\n1;1;4,5\n1;2;3,5\n", ("--decimal", ".", "--rating-column", "rating"), "Use --decimal ,."),
        ("user,item,rating\n1,1,4\n1,2,many\n", (), "Use --fix all or --drop-bad-rows."),
        ("user,item,rating\n1,1,4\n1,1,3\n", (), "Use --keep-last."),
        ("user,item,rating\n1,1,4\n1,2,4\n", (), "Use --scale LOW:HIGH:STEP."),
        ("user,item,stage\n1,1,4\n1,2,3\n", (), "Use --rating-column COLUMN."),
        ("user,item,rating\n1,1,0\n1,2,1\n2,1,2\n", (), "Use --not-rated 0 or --scale LOW:HIGH:STEP."),
        ("who,item,rating\n1,1,4\n", (), "Use --user-column COLUMN."),
        ("user,item\n1,1\n", ("--format", "bookcrossing", "--user-column", "x"), "does not take --user-column COLUMN;"),
    ],
)
def test_command_names_its_flags(tmp_path: Path, text: str, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError) as refused:
        imported(str(table(tmp_path, text)), "--name", "small", *arguments)
    assert said in str(refused.value)
    assert not re.search(r"\b[a-z]+(_[a-z]+)+\b|\w=\w", str(refused.value))


@pytest.mark.integration
@pytest.mark.django_db
def test_command_reads_decimal_commas_and_prints_warnings(tmp_path: Path) -> None:
    said = imported(str(table(tmp_path, semicolons())), "--name", "small")
    assert "1 to 5 in steps of 0.5" in said
    dropped = imported(
        str(table(tmp_path, "user;item;rating\n1;1;4\n1;2;many\n1;3;3\n")), "--name", "small", "--drop-bad-rows"
    )
    assert "1 of 3 rows (33%) were dropped as bad" in dropped


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
    assert "First and last rating" in page
    assert '<time datetime="2001-09-09T01:46:41+00:00">9 Sep 2001</time>' in page
    imported(str(table(tmp_path, "user,item,rating\n1,1,4\n1,2,3\n")), "--name", "timeless")
    assert "First and last rating" not in client.get("/catalog/timeless/1/", follow=True).content.decode()

"""The security log: whole lines of several processes, days that are kept, digests, floods, and a full disk."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.test import RequestFactory

from core import security_log
from core.log_files import StandardError, append_lines, rotate
from core.networks import network_of
from core.security_log import DONE, REFUSED, events_of, network_digest, record_event
from tests.parallax.full_disk_filling import fill


@pytest.fixture(autouse=True)
def log(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of today, without refusals of tests before."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(security_log, "_written", {})
    return tmp_path / "logs" / f"security-{datetime.now(UTC):%Y-%m-%d}.jsonl"


def lines_of(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_line_says_what_was_done_in_which_request_and_hides_secrets_and_addresses(log: Path) -> None:
    request = RequestFactory().get("/s/p/SECRET_to-ken/rate/?id=panel-7", REMOTE_ADDR="203.0.113.7")
    with events_of(request):
        record_event("test.first", study="films")
        record_event("test.second", outcome=REFUSED)
    record_event("test.third", n=3)
    first, second, third = lines_of(log)
    assert first["event"] == "test.first"
    assert first["outcome"] == DONE
    assert first["role"] == "participant"
    assert first["study"] == "films"
    assert first["path"] == "/s/p/…/rate/"
    assert first["request"] == second["request"]
    assert second["network"] == network_digest("203.0.113.7")
    assert (third["role"], third["n"], "request" in third) == ("system", 3, False)
    text = log.read_text()
    assert not [secret for secret in ("SECRET", "panel-7", "203.0.113.7") if secret in text]
    assert log.stat().st_mode & 0o077 == 0


def test_a_participants_code_and_network_are_never_in_one_line(log: Path) -> None:
    with events_of(RequestFactory().post("/s/p/token/withdraw/", REMOTE_ADDR="203.0.113.7")):
        record_event("participant.withdrawn", participant="AB12")
    [line] = lines_of(log)
    assert line["participant"] == "AB12"
    assert "network" not in line


def test_plain_addresses_are_written_only_if_a_setting_asks_for_them(log: Path, settings: Any) -> None:
    settings.SECURITY_LOG_ADDRESSES = True
    record_event("test", address="203.0.113.7")
    assert lines_of(log)[0]["address"] == "203.0.113.7"


@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8:1:2:3::4"])
def test_an_administrator_compares_an_address_with_the_digest_of_its_network(
    log: Path, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    record_event("test", outcome=REFUSED, address=address)
    call_command("network_digest", address)
    assert capsys.readouterr().out.split()[0] == lines_of(log)[0]["network"] == network_digest(network_of(address))


def test_a_flood_of_refusals_is_not_written_and_its_last_line_says_so(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [datetime(2026, 11, 25, 10, 0, 59, tzinfo=UTC)]
    monkeypatch.setattr(security_log, "datetime", Mock(now=lambda _zone: moments[-1]))
    for _ in range(500):
        record_event("test.flood", outcome=REFUSED, address="203.0.113.7")
    for number in range(500):
        record_event("test.flood", outcome=REFUSED, address=f"198.51.100.{number % 250}")
    record_event("test.done", address="203.0.113.7")
    moments.append(moments[0] + timedelta(seconds=1))
    record_event("test.flood", outcome=REFUSED, address="203.0.113.7")
    *flood, done, after = lines_of(log.with_name("security-2026-11-25.jsonl"))
    own = [line for line in flood if line["network"] == network_digest("203.0.113.7")]
    assert (len(flood), len(own)) == (security_log.MOST_REFUSALS, security_log.MOST_ALIKE)
    assert [line for line in flood if "more" in line] == [own[-1], flood[-1]]
    assert done["event"] == "test.done"
    assert after["network"] == network_digest("203.0.113.7")


def test_files_of_old_days_are_deleted_when_a_day_begins(log: Path, settings: Any) -> None:
    settings.SECURITY_LOG_DAYS = 30
    log.parent.mkdir()
    days = {
        n: log.with_name(f"security-{datetime.now(UTC) - timedelta(days=n):%Y-%m-%d}.jsonl") for n in (1, 30, 31, 99)
    }
    for file in days.values():
        file.write_text("{}\n")
    (log.parent / "web.log").write_text("another log\n")
    record_event("test")
    assert {file.name for file in log.parent.iterdir()} == {log.name, days[1].name, days[30].name, "web.log"}


def _append(path: Path, character: str) -> None:
    for _ in range(200):
        append_lines(path, character.encode() * 20_000 + b"\n")


def test_lines_of_several_processes_stay_whole(tmp_path: Path) -> None:
    """Each line is longer than what a stream writes at once."""
    path = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append, args=(path, character)) for character in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    lines = path.read_text().splitlines()
    assert len(lines) == 800
    assert set(lines) == {character * 20_000 for character in "abcd"}


def _log(path: Path, character: str) -> None:
    os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 2)
    handler = StandardError()
    for _ in range(100):
        handler.emit(logging.makeLogRecord({"msg": character * 20_000}))


def test_records_on_standard_error_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_log, args=(path, character)) for character in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert set(path.read_text().splitlines()) == {character * 20_000 for character in "abcd"}


def test_a_number_of_rotated_files_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    for number in range(5):
        append_lines(path, f"{number}\n".encode())
        rotate(path, n_kept=2)
    assert {file.name: file.read_text() for file in tmp_path.iterdir() if file.is_file()} == {
        "web.log.1": "4\n",
        "web.log.2": "3\n",
    }


@pytest.fixture
def full_disk(small_disk: Path) -> Path:
    (small_disk / "logs").mkdir()
    fill(small_disk)
    return small_disk


def test_a_full_disk_is_named_in_one_line_and_the_event_is_not_lost(
    full_disk: Path, settings: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    settings.VAR_DIR = full_disk
    record_event("test", address="203.0.113.7")
    [record] = caplog.records
    assert record.exc_info is None
    message = record.getMessage()
    assert message.startswith(f"{full_disk}/logs/security-")
    assert "No space left on device" in message
    assert '"event": "test"' in message
    assert "Traceback" not in capfd.readouterr().err
    (full_disk / "filling").unlink()
    record_event("test.after")
    [file] = (full_disk / "logs").iterdir()
    assert [line["event"] for line in lines_of(file)] == ["test.after"]


def test_a_line_that_does_not_fit_leaves_no_part(full_disk: Path) -> None:
    path = full_disk / "logs" / "log"
    with (full_disk / "filling").open("r+b") as file:
        file.truncate(file.seek(0, os.SEEK_END) - 8192)
    append_lines(path, b"first\n")
    with pytest.raises(OSError, match="No space left on device") as refused:
        append_lines(path, b"x" * 100_000 + b"\n")
    assert refused.value.filename == str(path)
    assert path.read_bytes() == b"first\n"

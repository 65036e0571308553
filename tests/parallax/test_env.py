from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from parallax.env import env_bool, env_bytes, env_database, env_int, env_list, env_redis, env_secret, env_site, env_str

pytestmark = pytest.mark.unit


def test_values_are_read_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P_X", "yes")
    assert env_bool("P_X", default=False) is True
    monkeypatch.setenv("P_X", "0")
    assert env_bool("P_X", default=True) is False
    assert env_bool("P_NONE", default=True) is True
    assert env_int("P_X", default=4) == 0
    assert env_int("P_NONE", default=4) == 4
    monkeypatch.setenv("P_X", "a, b,,")
    assert env_list("P_X", default=[]) == ["a", "b"]
    assert env_list("P_NONE", default=["z"]) == ["z"]
    assert env_str("P_NONE", "d") == "d"


@pytest.mark.parametrize(("value", "read"), [("maybe", "bool"), ("ten", "int"), ("-1", "int")])
def test_a_bad_value_stops_with_a_sentence(monkeypatch: pytest.MonkeyPatch, value: str, read: str) -> None:
    monkeypatch.setenv("P_X", value)
    with pytest.raises(ImproperlyConfigured, match="P_X is"):
        env_bool("P_X", default=True) if read == "bool" else env_int("P_X", default=1)


def test_a_secret_comes_from_the_variable_or_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert env_secret("P_S") is None
    (tmp_path / "s").write_text("from file\n")
    monkeypatch.setenv("P_S_FILE", str(tmp_path / "s"))
    assert env_secret("P_S") == "from file"
    monkeypatch.setenv("P_S", "direct")
    assert env_secret("P_S") == "direct"
    monkeypatch.delenv("P_S")
    monkeypatch.setenv("P_S_FILE", str(tmp_path / "none"))
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        env_secret("P_S")


def test_an_address_that_is_no_database_stops_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env_database("P_D", default="sqlite:////tmp/x.sqlite3")["ENGINE"] == "django.db.backends.sqlite3"
    for wrong in ("garbage", "nonsense://user:secret@host/name"):
        monkeypatch.setenv("P_D", wrong)
        with pytest.raises(ImproperlyConfigured, match="P_D") as caught:
            env_database("P_D", default="")
        assert "secret" not in str(caught.value)


def test_connections_are_checked_and_a_password_may_hold_any_symbol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P_D", "postgresql://parallax@database:5432/parallax")
    monkeypatch.setenv("DATABASE_PASSWORD", "a/b#c?d@e:f%41")
    found = env_database("P_D", default="")
    assert found["CONN_HEALTH_CHECKS"] is True
    assert (found["PASSWORD"], found["HOST"], found["NAME"]) == ("a/b#c?d@e:f%41", "database", "parallax")


def test_sizes_are_read_with_their_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env_bytes("P_NONE") is None
    for text, size in (("512", 512), ("3k", 3072), ("800M", 800 * 1024**2), ("12 GB".replace(" ", ""), 12 * 1024**3)):
        monkeypatch.setenv("P_X", text)
        assert env_bytes("P_X") == size
    for text in ("0", "much", "1.5G", "-3M"):
        monkeypatch.setenv("P_X", text)
        with pytest.raises(ImproperlyConfigured, match="800M or 12G"):
            env_bytes("P_X")


def test_a_sites_address_is_read_without_its_last_slash_and_anything_else_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert env_site("P_NONE") == ""
    for text, address in (
        ("https://study.example.org/", "https://study.example.org"),
        ("http://10.0.0.7:8000", "http://10.0.0.7:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        (" ", ""),
    ):
        monkeypatch.setenv("P_X", text)
        assert env_site("P_X") == address
    for text in ("study.example.org", "ftp://study.example.org", "https://", "https://a b", "https://x.org/studies",
                 "https://x.org?next=1"):  # fmt: skip
        monkeypatch.setenv("P_X", text)
        with pytest.raises(ImproperlyConfigured, match=r"https://study\.example\.org"):
            env_site("P_X")


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("redis://h:6379/0", "redis://:p%40%2F%23@h:6379/0"),
        ("rediss://user:old@h:6379/1", "rediss://user:p%40%2F%23@h:6379/1"),
    ],
)
def test_the_password_of_redis_may_be_a_file_of_its_own(
    url: str, whole: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("P_R", url)
    assert env_redis("P_R") == url
    (tmp_path / "password").write_text("p@/#\n")
    monkeypatch.setenv("REDIS_PASSWORD_FILE", str(tmp_path / "password"))
    assert env_redis("P_R") == whole
    assert env_redis("P_NONE") is None

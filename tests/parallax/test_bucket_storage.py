"""Artefacts in a bucket of a real S3 server: stored, copied to this machine, verified, mended, removed, and refused."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from core import artefacts
from core.errors import ArtefactError, StorageRefused, StorageUnavailable
from parallax.env import bucket_options, storages_in
from tests.factories.object_servers import (
    Gate,
    ObjectServer,
    bucket_environment,
    bucket_storages,
)

pytestmark = [pytest.mark.integration, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
LOAD = """
import sys, time, django
django.setup()
from core import artefacts
print("ready", flush=True)
sys.stdin.readline()
print(int(artefacts.load("models", sys.argv[1]).arrays["a"].sum()), flush=True)
"""


@pytest.fixture
def gate(object_server: ObjectServer) -> Iterator[Gate]:
    with Gate(object_server.url) as gate:
        yield gate


@pytest.fixture
def bucket(object_server: ObjectServer) -> str:
    return object_server.new_bucket()


@pytest.fixture(autouse=True)
def cache(settings: Any, gate: Gate, bucket: str, tmp_path: Path) -> Iterator[Path]:
    """This machine's cache; the artefacts are in the bucket."""
    settings.STORAGES = {**settings.STORAGES, **bucket_storages(gate.url, bucket)}
    settings.ARTEFACT_CACHE = tmp_path / "cache"
    settings.ARTEFACT_CACHE_SIZE = 2**30
    artefacts.clear_cache()
    yield tmp_path / "cache"
    artefacts.clear_cache()


@pytest.fixture
def client(object_server: ObjectServer) -> Any:
    return object_server.client()


def keys(client: Any, bucket: str) -> set[str]:
    return {entry["Key"] for entry in client.list_objects_v2(Bucket=bucket).get("Contents", [])}


def on_another_machine(settings: Any, folder: Path) -> None:
    """Read as a machine that has no copies yet."""
    settings.ARTEFACT_CACHE = folder
    artefacts.clear_cache()


def test_arrays_come_back_mapped_from_a_private_copy(
    settings: Any, gate: Gate, bucket: str, client: Any, tmp_path: Path
) -> None:
    wide = np.arange(12, dtype=np.float32).reshape(3, 4)
    digest = artefacts.store("models", {"wide": wide.T, "none": np.zeros(0)}, {"n": 3})
    prefix = f"installation/artefacts/models/{digest}/"
    assert keys(client, bucket) == {prefix + name for name in ("wide.npy", "none.npy", "meta.json")}
    assert artefacts.load("models", digest).meta == {"n": 3}
    assert gate.count("GET", ".npy") == 0  # the machine that has stored it has a copy
    on_another_machine(settings, tmp_path / "other")
    found = artefacts.load("models", digest)
    assert isinstance(found.arrays["wide"], np.memmap)
    assert not found.arrays["wide"].flags.writeable
    np.testing.assert_array_equal(found.arrays["wide"], wide.T)
    artefacts.clear_cache()
    artefacts.load("models", digest)
    assert gate.count("GET", "wide.npy") == 1
    folders = [path for path in (tmp_path / "other").rglob("*") if path.is_dir()]
    assert folders
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "other").rglob("*.npy")} == {0}
    assert list((tmp_path / "other" / "parts").iterdir()) == []


def test_a_second_writer_of_the_same_digest_writes_nothing(gate: Gate) -> None:
    first = artefacts.store("models", {"a": np.arange(3)}, {})
    n_written = gate.count("PUT", ".npy")
    assert artefacts.store("models", {"a": np.arange(3)}, {}) == first
    assert gate.count("PUT", ".npy") == n_written == 1


def test_a_write_that_never_finished_is_written_again(bucket: str, client: Any) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    client.delete_object(Bucket=bucket, Key=f"installation/artefacts/models/{digest}/meta.json")
    with pytest.raises(ArtefactError, match=r"missing a file \(meta\.json\)"):
        artefacts.verify("models", digest)
    assert artefacts.store("models", {"a": np.arange(3)}, {}) == digest
    artefacts.verify("models", digest)


def test_what_is_damaged_in_the_bucket_is_found_and_mended_by_storing_again(
    settings: Any, bucket: str, client: Any, tmp_path: Path
) -> None:
    digest = artefacts.store("models", {"a": np.arange(300)}, {})
    key = f"installation/artefacts/models/{digest}/a.npy"
    content = client.get_object(Bucket=bucket, Key=key)["Body"].read()
    client.put_object(Bucket=bucket, Key=key, Body=content[:-1] + b"!")
    with pytest.raises(ArtefactError, match="matches its digest"):
        artefacts.verify("models", digest)  # although this machine has a good copy
    on_another_machine(settings, tmp_path / "other")
    with pytest.raises(ArtefactError, match="matches its digest") as caught:
        artefacts.load("models", digest)
    assert caught.value.code == "artefact.damaged"
    assert list((tmp_path / "other" / "entries").iterdir()) == []
    artefacts.store("models", {"a": np.arange(300)}, {})
    artefacts.verify("models", digest)
    assert artefacts.load("models", digest).arrays["a"].sum() == 44850


@pytest.mark.parametrize("harm", ["changed", "truncated", "gone"])
def test_a_copy_that_is_damaged_on_this_machine_is_fetched_again(harm: str, cache: Path, gate: Gate) -> None:
    digest = artefacts.store("models", {"a": np.arange(300)}, {})
    artefacts.clear_cache()
    copy = cache / "entries" / f"models-{digest}" / "a.npy"
    content = copy.read_bytes()
    if harm == "gone":
        copy.unlink()
    else:
        copy.write_bytes(content[:-1] + b"!" if harm == "changed" else content[:200])
    assert artefacts.load("models", digest).arrays["a"].sum() == 44850
    assert copy.read_bytes() == content
    assert gate.count("GET", "a.npy") == 1


def test_the_copies_unused_for_longest_make_room(settings: Any, cache: Path, gate: Gate) -> None:
    def is_there(digest: str) -> bool:
        return (cache / "entries" / f"models-{digest}").exists()

    def use(digest: str, seconds_ago: float) -> None:
        os.utime(cache / "entries" / f"models-{digest}", (time.time() - seconds_ago,) * 2)

    first, second = (artefacts.store("models", {"a": np.full(1000, value)}, {}) for value in (1, 2))
    use(first, 100)
    use(second, 50)
    artefacts.load("models", first)  # which was last used now
    settings.ARTEFACT_CACHE_SIZE = 20_000  # two of 8,300 bytes
    third = artefacts.store("models", {"a": np.full(1000, 3)}, {})
    assert [is_there(digest) for digest in (first, second, third)] == [True, False, True]
    settings.ARTEFACT_CACHE_SIZE = 1
    held = artefacts.load("models", first).arrays["a"]
    fourth = artefacts.store("models", {"a": np.full(1000, 4)}, {})
    assert [is_there(digest) for digest in (first, third, fourth)] == [False, False, True]
    assert held.sum() == 1000  # who has it open keeps it
    artefacts.clear_cache()
    assert artefacts.load("models", second).arrays["a"][0] == 2
    assert gate.count("GET", f"{second}/a.npy") == 1


def test_what_a_killed_process_was_fetching_is_deleted_after_an_hour(cache: Path) -> None:
    artefacts.store("models", {"a": np.arange(3)}, {})
    old, new = cache / "parts" / "old", cache / "parts" / "new"
    for part in (old, new):
        part.mkdir()
        (part / "a.npy").write_bytes(b"half")
    for path in (old / "a.npy", old):
        os.utime(path, (time.time() - 4000,) * 2)
    artefacts.store("models", {"a": np.arange(4)}, {})
    assert (old.exists(), new.exists()) == (False, True)


def test_of_several_processes_one_fetches(bucket: str, gate: Gate, tmp_path: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(2_000_000)}, {})
    environment = {
        **os.environ,
        **bucket_environment(gate.url, bucket),
        "PARALLAX_ARTEFACT_CACHE": str(tmp_path / "shared"),
        "DJANGO_SETTINGS_MODULE": "parallax.settings",
        "PYTHONPATH": str(ROOT),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LOAD, digest],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    before = gate.count("GET", "meta.json")
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    sums = {process.communicate(timeout=120)[0].strip() for process in processes}
    assert sums == {str(1_999_999_000_000)}
    assert gate.count("GET", "meta.json") - before == 1


def test_threads_that_discard_and_load_at_once_read_whole_arrays(cache: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(50_000)}, {})
    copies = artefacts._cache()
    problems: list[Exception] = []

    def load() -> None:
        for _ in range(15):
            artefacts.clear_cache()
            try:
                assert artefacts.load("models", digest).arrays["a"][-1] == 49_999
            except Exception as problem:
                problems.append(problem)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        copies.discard(f"models-{digest}")
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    assert problems == []


def test_removing_deletes_the_files_and_the_copy(cache: Path, bucket: str, client: Any) -> None:
    digest = artefacts.store("parts", {"a": np.arange(3)}, {})
    artefacts.remove("parts", digest)
    artefacts.remove("parts", digest)
    assert keys(client, bucket) == set()
    assert list((cache / "entries").iterdir()) == []
    with pytest.raises(ArtefactError, match="missing a file"):
        artefacts.load("parts", digest)


def test_files_named_by_their_content_are_copied_once_and_checked(
    settings: Any, gate: Gate, bucket: str, client: Any, tmp_path: Path
) -> None:
    content = b"a picture" * 1000
    digest = hashlib.sha256(content).hexdigest()
    name = artefacts.store_file(f"pictures/{digest[:2]}/{digest}.png", content)
    for _ in range(3):
        with artefacts.open_file(name) as file:
            assert file.read() == content
    assert gate.count("GET", ".png") == 1
    client.put_object(Bucket=bucket, Key=f"installation/artefacts/{name}", Body=b"another picture")
    on_another_machine(settings, tmp_path / "other")
    with pytest.raises(ArtefactError, match="matches its digest"):
        artefacts.open_file(name)
    client.delete_object(Bucket=bucket, Key=f"installation/artefacts/{name}")
    with pytest.raises(ArtefactError, match="is missing"):
        artefacts.open_file(name)


def test_a_bucket_that_is_missing_is_named(settings: Any, gate: Gate) -> None:
    settings.STORAGES = {**settings.STORAGES, **bucket_storages(gate.url, "no-such-bucket")}
    with pytest.raises(StorageRefused, match=r"no-such-bucket does not exist.*PARALLAX_ARTEFACTS_S3"):
        artefacts.store("models", {"a": np.arange(3)}, {})
    with pytest.raises(StorageRefused, match="no-such-bucket"):
        artefacts.load("models", "0" * 64)
    with pytest.raises(StorageRefused, match="no-such-bucket"):
        storages["default"].open("exports/1.zip")


def test_credentials_that_are_refused_are_named(object_server: ObjectServer) -> None:
    object_server.require_accounts(0)
    try:
        with pytest.raises(StorageRefused, match="AWS_SECRET_ACCESS_KEY"):
            artefacts.store("models", {"a": np.arange(3)}, {})
        with pytest.raises(StorageRefused, match="InvalidAccessKeyId"):
            storages["default"].listdir("")
    finally:
        object_server.require_accounts(None)


def test_a_server_that_is_away_and_back(settings: Any, gate: Gate, tmp_path: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    gate.shut()
    artefacts.clear_cache()
    assert artefacts.load("models", digest).arrays["a"].sum() == 3  # from the copy
    on_another_machine(settings, tmp_path / "other")
    with pytest.raises(StorageUnavailable, match=f"{gate.url} .* does not answer.*PARALLAX_S3_ENDPOINT"):
        artefacts.load("models", digest)
    with pytest.raises(StorageUnavailable, match="does not answer"):
        storages["default"].save("exports/1.zip", ContentFile(b"PK"))
    gate.open()
    assert artefacts.load("models", digest).arrays["a"].sum() == 3


def test_a_cache_that_cannot_be_written_names_its_setting(settings: Any, tmp_path: Path) -> None:
    digest = artefacts.store("models", {"a": np.arange(3)}, {})
    (tmp_path / "file").write_bytes(b"")
    on_another_machine(settings, tmp_path / "file" / "cache")
    with pytest.raises(StorageRefused, match="PARALLAX_ARTEFACT_CACHE"):
        artefacts.load("models", digest)


@pytest.mark.parametrize(
    ("address", "options", "words"),
    [
        ("https://bucket", {}, "write s3://bucket"),
        ("s3://Bucket", {}, "write s3://bucket"),
        ("s3://bucket/../other", {}, "write s3://bucket"),
        ("s3://bucket", {"access_key": "a"}, "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("s3://bucket", {"access_key": "", "secret_key": "b"}, "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(address: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        bucket_options(address, **options)


def test_without_the_package_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parallax.env.find_spec", lambda name: None)
    assert bucket_options("") == {}
    with pytest.raises(ImproperlyConfigured, match=r"requirements-s3\.txt"):
        bucket_options("s3://bucket")


def test_a_bucket_and_another_storage_are_refused(tmp_path: Path) -> None:
    assert storages_in(tmp_path, bucket={}, artefact_backend="a.B")["artefacts"]["BACKEND"] == "a.B"
    with pytest.raises(ImproperlyConfigured, match="not both"):
        storages_in(tmp_path, bucket=bucket_options("s3://bucket/a/"), artefact_backend="a.B")


def test_credentials_are_read_from_files_and_shown_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the-secret-of-the-bucket\n")
    script = (
        "import json, django; django.setup()\n"
        "from django.conf import settings\n"
        "from django.views.debug import SafeExceptionReporterFilter\n"
        "shown = str(SafeExceptionReporterFilter().get_safe_settings())\n"
        "options = settings.STORAGES['artefacts']['OPTIONS']\n"
        "print(json.dumps([options['secret_key'], options['location'], options['secret_key'] in shown]))\n"
    )
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "PARALLAX_ARTEFACTS_S3": "s3://bucket", "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY_FILE": str(tmp_path / "secret"), "DJANGO_SETTINGS_MODULE": "parallax.settings",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
        check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == ["the-secret-of-the-bucket", "artefacts", False]

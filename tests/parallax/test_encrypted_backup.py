"""Backups are tried, encrypted, copied, and checked where the private key is."""

from __future__ import annotations

import json
import secrets
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pyrage
import pytest

from core.errors import ParallaxError
from parallax.backup.archive import check_digest, digest_file
from parallax.backup.encryption import decrypted, encrypt, recipients
from tests.factories.installations import Installation, older_installation
from tests.factories.object_servers import KEY, SECRET, ObjectServer
from tests.parallax.test_backup import script

pytestmark = pytest.mark.integration
RESULTS = """
import django
django.setup()
from core.models import LogEntry
print(list(LogEntry.objects.filter(kind="parallax.backup").values_list("to_status", flat=True)))
"""


def key_pair(folder: Path, name: str = "key.txt") -> tuple[str, Path]:
    """A public key, and the file of the private one as `age-keygen` writes it."""
    identity, file = pyrage.x25519.Identity.generate(), folder / name
    file.write_text(f"# created: 2026-11-25T12:00:00Z\n# public key: {identity.to_public()}\n{identity}\n")
    return str(identity.to_public()), file


def encrypted(folder: Path, public: str, content: bytes = b"x" * 200_000) -> Path:
    plain, file = folder / "plain", folder / "b.zip.age"
    plain.write_bytes(content)
    with plain.open("rb") as source, file.open("wb") as target:
        encrypt(source, target, [pyrage.x25519.Recipient.from_str(public)])
    return file


def test_the_private_key_alone_opens_an_encrypted_file_and_every_change_is_noticed(tmp_path: Path) -> None:
    public, key = key_pair(tmp_path)
    _, other = key_pair(tmp_path, "other.txt")
    file = encrypted(tmp_path, public)
    (folder := tmp_path / "1").mkdir()
    assert decrypted(file, key, folder).read_bytes() == b"x" * 200_000
    content = file.read_bytes()
    (cut := tmp_path / "cut.age").write_bytes(content[:-20])
    (changed := tmp_path / "changed.age").write_bytes(content[:-20] + b"!" + content[-19:])
    (no_key := tmp_path / "no-key.txt").write_text("a password")
    codes = {}
    for number, (path, private) in enumerate([(file, None), (file, other), (file, no_key), (cut, key), (changed, key)]):
        (folder := tmp_path / f"f{number}").mkdir()
        with pytest.raises(ParallaxError) as refusal:
            decrypted(path, private, folder)
        codes[number] = refusal.value.code
    wrong = "backup.wrong_key"
    assert codes == {0: "backup.no_key", 1: wrong, 2: wrong, 3: wrong, 4: wrong}


def test_public_keys_are_a_list_with_remarks_and_anything_else_is_refused(settings: Any, tmp_path: Path) -> None:
    keys = [key_pair(tmp_path)[0] for _ in range(2)]
    settings.BACKUP_RECIPIENT = f"# Ann\n{keys[0]}\n# Ben, as a reserve\n{keys[1]}\n"
    assert [str(key) for key in recipients()] == keys
    settings.BACKUP_RECIPIENT = ", ".join(keys)
    assert [str(key) for key in recipients()] == keys
    settings.BACKUP_RECIPIENT = ""
    assert recipients() == []
    for text in ("ann@example.org", keys[0][:-1], key_pair(tmp_path)[1].read_text()):
        settings.BACKUP_RECIPIENT = text
        with pytest.raises(ParallaxError, match="public key"):
            recipients()


def test_the_digest_beside_a_backup_is_that_of_sha256sum_and_shows_a_change(tmp_path: Path) -> None:
    (file := tmp_path / "b.zip").write_bytes(b"a backup")
    check_digest(file)  # there is none: the backup of an older version
    digest_file(file).write_text(f"{_sha256(file)}  b.zip\n")
    check_digest(file)
    subprocess.run(["sha256sum", "--check", "b.zip.sha256"], cwd=tmp_path, check=True, capture_output=True)
    file.write_bytes(b"a backuq")
    with pytest.raises(ParallaxError, match="does not match"):
        check_digest(file)


def _sha256(file: Path) -> str:
    return subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout.split()[0]


@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_an_encrypted_backup_is_tried_verified_and_restored_with_the_key(
    vendor: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls = [request.getfixturevalue("new_postgresql")() for _ in range(2)] if vendor == "postgresql" else ["", ""]
    public, key = key_pair(tmp_path)
    _, other = key_pair(tmp_path, "other.txt")
    source = older_installation(tmp_path / "source", urls[0])
    source.environment["PARALLAX_BACKUP_RECIPIENT"] = public
    said = source.manage("backup", str(tmp_path / "backup.zip"))
    assert "Trial restore" in said
    assert "1 public keys" in said
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "backup.zip.age", "backup.zip.age.sha256", "erasures.txt", "key.txt", "other.txt",
    ]  # fmt: skip
    file = tmp_path / "backup.zip.age"
    assert source.environment["SECRET_KEY"].encode() not in file.read_bytes()
    assert not zipfile.is_zipfile(file)
    assert "['succeeded']" in script(source, RESULTS)

    # Where the private key is: without the installation's data folder, and on SQLite without its database.
    apart = Installation(tmp_path / "apart", **({"DATABASE_URL": urls[1]} if urls[1] else {}))
    assert "no problems found" in apart.manage("verify_backup", str(file), "--key", str(key))
    assert "cannot be decrypted" in apart.manage("verify_backup", str(file), "--key", str(other), status=1)
    assert "--key" in apart.manage("verify_backup", str(file), status=1)
    assert list((apart.var / "tmp").iterdir()) == []
    if urls[1]:
        with psycopg.connect(urls[1]) as connection:
            names = [name for (name,) in connection.execute("SELECT datname FROM pg_database")]
        assert not any(name.endswith("_trial_restore") for name in names)

    target = Installation(tmp_path / "target", **({"DATABASE_URL": urls[1]} if urls[1] else {}))
    del target.environment["SECRET_KEY"]
    assert "--key" in target.manage("restore", str(file), status=1)
    target.manage("restore", str(file), "--key", str(key))
    target.manage("check_integrity")
    assert (target.var / "secret_key").read_text() == source.environment["SECRET_KEY"]

    file.write_bytes(file.read_bytes()[:-1])
    for refused in (("verify_backup",), ("restore", "--replace")):
        assert "does not match backup.zip.age.sha256" in target.manage(*refused, str(file), "--key", str(key), status=1)


@pytest.mark.slow
def test_a_plain_backup_says_so_and_one_of_damaged_data_is_kept_and_counts_as_failed(tmp_path: Path) -> None:
    source, file = older_installation(tmp_path / "source"), tmp_path / "backup.zip"
    source.manage("migrate", "--verbosity", "0")
    model = next((source.var / "artefacts" / "models").iterdir())
    array = next(model.glob("*.npy"))
    array.write_bytes(array.read_bytes()[:-1] + b"!")
    said = source.manage("backup", str(file), status=1)
    assert "not encrypted" in said
    assert "artefact.damaged in model" in said
    assert zipfile.is_zipfile(file)
    assert "['failed']" in script(source, RESULTS)
    assert "artefact.damaged in model" in source.manage("verify_backup", str(file), status=1)


@pytest.mark.slow
def test_a_role_that_may_create_no_database_has_the_files_checked_and_says_so(
    new_postgresql: Callable[[], str], tmp_path: Path
) -> None:
    url = new_postgresql()
    name, role = url.rpartition("/")[2], f"parallax_tests_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[arg-type]
        try:
            server.execute(f'ALTER DATABASE "{name}" OWNER TO {role}')  # type: ignore[arg-type]
            server.execute(f"ALTER SCHEMA public OWNER TO {role}")  # type: ignore[arg-type]
            source = Installation(tmp_path / "source", DATABASE_URL=url.replace("postgres@", f"{role}@"))
            source.manage("migrate", "--verbosity", "0")
            said = source.manage("backup", str(tmp_path / "backup.zip"))
        finally:
            server.execute(f"REASSIGN OWNED BY {role} TO postgres")  # type: ignore[arg-type]
            server.execute(f"DROP ROLE {role}")  # type: ignore[arg-type]
    assert "No trial restore" in said


@pytest.mark.slow
def test_encrypted_backups_and_erasures_are_copied_to_a_bucket_and_plain_ones_are_not(
    object_server: ObjectServer, tmp_path: Path
) -> None:
    bucket = object_server.new_bucket()
    public, key = key_pair(tmp_path)
    source = older_installation(tmp_path / "source")
    source.manage("migrate", "--verbosity", "0")
    source.environment |= {
        "PARALLAX_BACKUP_S3": f"s3://{bucket}/backups", "PARALLAX_S3_ENDPOINT": object_server.url,
        "PARALLAX_S3_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
    }  # fmt: skip
    assert "encrypted backups" in source.manage("backup", str(tmp_path / "plain.zip"), status=1)
    source.environment["PARALLAX_BACKUP_RECIPIENT"] = public
    client = object_server.client()
    # What another machine has listed stays.
    client.put_object(Bucket=bucket, Key="backups/erasures.txt", Body=b"of-another-machine")
    source.manage("withdraw_participant", "older-study", _codes(source)[0], "--reason", "asked", "--yes")
    script(source, SWEEP)
    listed = client.get_object(Bucket=bucket, Key="backups/erasures.txt")["Body"].read().decode().split()
    assert len(listed) == 2
    assert "of-another-machine" in listed
    source.manage("backup", str(tmp_path / "b.zip"))
    names = [entry["Key"] for entry in client.list_objects_v2(Bucket=bucket)["Contents"]]
    assert names == ["backups/b.zip.age", "backups/b.zip.age.sha256", "backups/erasures.txt"]
    client.download_file(bucket, "backups/b.zip.age", str(tmp_path / "copy.age"))
    assert _sha256(tmp_path / "copy.age") == _sha256(tmp_path / "b.zip.age")
    assert (tmp_path / "erasures.txt").read_text().split() == sorted(listed)
    assert "no problems found" in source.manage("verify_backup", str(tmp_path / "copy.age"), "--key", str(key))


def _codes(installation: Installation) -> list[str]:
    text = "import django\ndjango.setup()\nimport json\nfrom studies.models import Participant\n"
    text += 'print(json.dumps(list(Participant.objects.exclude(status="withdrawn").values_list("code", flat=True))))'
    codes: list[str] = json.loads(script(installation, text))
    return codes


SWEEP = """
import django
django.setup()
from celery import current_app
from parallax import celery, tasks
current_app.tasks["backup.sweep"].run()
"""
STATE = """
import django
django.setup()
import json
from studies.models import Participant
people = Participant.objects.all()
print(json.dumps({p.code: [p.status, p.erased_at is not None, p.responses.count()] for p in people}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_who_withdrew_after_the_backup_is_erased_again_by_the_restore(
    vendor: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls = [request.getfixturevalue("new_postgresql")() for _ in range(2)] if vendor == "postgresql" else ["", ""]
    source, file = older_installation(tmp_path / "source", urls[0]), tmp_path / "before" / "backup.zip"
    file.parent.mkdir()
    source.manage("migrate", "--verbosity", "0")
    source.manage("backup", str(file), "--skip-trial")
    before = json.loads(script(source, STATE))
    code = _codes(source)[0]
    source.manage("withdraw_participant", "older-study", code, "--reason", "asked", "--yes")
    after = json.loads(script(source, STATE))
    assert before[code] != after[code] == ["withdrawn", True, 0]

    # The same machine, before any sweep: the list is brought up to date before the database is replaced.
    assert "Erased again: 1 participants" in source.manage("restore", str(file), "--replace")
    assert json.loads(script(source, STATE)) == after
    source.manage("check_integrity")
    assert code not in (source.var / "erasures.txt").read_text()

    # Another machine, with the list beside a later backup.
    later = tmp_path / "later" / "backup.zip"
    later.parent.mkdir()
    source.manage("backup", str(later), "--skip-trial")
    target = Installation(tmp_path / "target", **({"DATABASE_URL": urls[1]} if urls[1] else {}))
    del target.environment["SECRET_KEY"]
    target.manage("restore", str(file))
    assert json.loads(script(target, STATE)) == before
    target.manage("restore", str(file), "--replace", "--erasures", str(later.with_name("erasures.txt")))
    assert json.loads(script(target, STATE)) == after
    target.manage("check_integrity")

"""A recommender behind HTTP is asked within limits, and each fault of it has its own sentence."""

from __future__ import annotations

import datetime
import socket
import ssl
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from misbehaving import misbehaving

from core.errors import ParallaxError, ParameterError
from evaluation.remote import client
from evaluation.remote.addresses import check_service_address, is_public, resolved
from evaluation.remote.client import Service, about, recommend, recommend_many
from tests.factories.remote import HERE, make_request, running, service_that_is, write_items
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.integration


@pytest.fixture
def items(tmp_path: Path) -> Path:
    write_items(tmp_path / "items.jsonl")
    return tmp_path / "items.jsonl"


KNOWN = frozenset(str(number) for number in range(20))


def asked(service: Service, **more: Any) -> ParallaxError:
    with pytest.raises(ParallaxError) as refusal:
        recommend(service, make_request(**more), version="1", known=KNOWN)
    return refusal.value


def test_lists_come_from_the_stated_version_in_one_attempt(items: Path) -> None:
    with service_that_is("well", items, token="secret") as service:
        described = about(service).content
        assert (described.version, described.deterministic, described.max_depth) == ("1", True, 500)
        reply = recommend(service, make_request(), version="1", known=KNOWN)
        assert [listed.item for listed in reply.content.items] == ["8", "9", "10", "11", "12"]
        assert reply.attempts == 1
        requests = [make_request(request="a", rated=("1",)), make_request(request="b", rated=("2",))]
        many = recommend_many(service, requests, version="1", known=KNOWN).content
        assert [answer.items[0].item for answer in many.answers] == ["2", "3"]
    assert "secret" not in repr(service)


FAULTS = ("malformed", "huge", "redirecting", "repeating", "excluded", "unknown", "short", "other-version")


def test_each_fault_is_refused_at_once_and_in_words(items: Path) -> None:
    cases: dict[str, Callable[[], object]] = {}
    for how in (*FAULTS, "other-request"):

        def ask(how: str = how) -> None:
            with service_that_is(how, items) as service:
                recommend(service, make_request(), version="1", known=KNOWN)

        cases[how] = ask

    def without_token() -> None:
        with service_that_is("well", items, token="secret") as service:
            recommend(Service("GRU", service.address, HERE, 10), make_request(), version="1", known=KNOWN)

    def too_deep() -> None:
        with service_that_is("well", items) as service:
            recommend(service, make_request(n=501), version="1", known=KNOWN)

    assert_refused_as_approved("remote", {**cases, "no token": without_token, "too deep": too_deep})
    with service_that_is("repeating", items) as service:
        assert asked(service).extra["attempts"] == 1


def test_connection_errors_timeouts_and_5xx_are_tried_again(items: Path) -> None:
    with service_that_is("recovering", items) as service:
        assert recommend(service, make_request(), version="1", known=KNOWN).attempts == 3
    for how in ("slow", "dripping", "dead"):
        with service_that_is(how, items, seconds=0.2, retry_after=(0.0,)) as service:
            began = time.monotonic()
            refusal = asked(service)
            assert time.monotonic() - began < 2
        assert (refusal.code, refusal.extra["attempts"]) == ("remote.unreachable", 2)
        expected = "The connection ended" if how == "dead" else "It did not answer within 0.2 seconds."
        assert expected in refusal.message
    # The server is closed by now.
    assert "No connection" in asked(Service("GRU", service.address, HERE, 10, retry_after=())).message
    unknown = Service("GRU", "https://no-such-host.invalid", {"no-such-host.invalid"}, 10, retry_after=())
    assert "cannot be looked up" in asked(unknown).message


def test_retries_repeat_the_request_after_1_3_and_8_seconds(items: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(client.time, "sleep", waits.append)
    bodies: list[bytes] = []

    class Busy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(429)
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    with running(HTTPServer(("127.0.0.1", 0), Busy)) as address:
        refusal = asked(Service("GRU", address, HERE, 10))
    assert (refusal.code, refusal.extra["attempts"]) == ("remote.unreachable", 4)
    assert waits == [1.0, 3.0, 8.0]
    assert len(bodies) == 4
    assert len(set(bodies)) == 1


MANY_FIELDS = str({f"field{number}": 1 for number in range(5_000)}).replace("'", '"')


@pytest.mark.parametrize(
    "answer",
    ['{"protocol": NaN}', "[" * 100_000, '{"protocol": 1, "extra": 2}', "\xff", MANY_FIELDS],
    ids=["constant", "nested", "fields", "bytes", "many fields"],
)
def test_what_is_no_message_is_refused(answer: str) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer.encode("latin-1"))

        def log_message(self, *args: Any) -> None: ...

    with running(HTTPServer(("127.0.0.1", 0), Answers)) as address, pytest.raises(ParallaxError) as refusal:
        about(Service("GRU", address, HERE, 10))
    assert refusal.value.code == "remote.malformed"
    assert len(refusal.value.message) < 1_500


def looked_up(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name lead to these addresses."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **more: found)


INSIDE = (
    "127.0.0.1", "::1", "10.1.2.3", "192.168.0.1", "172.18.0.5", "169.254.169.254", "fe80::1%eth0", "fd00:ec2::254",
    "100.100.100.200", "168.63.129.16", "224.0.1.1", "0.1.2.3", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "255.255.255.255",
)  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_names_lead_to_no_address_inside_a_network_unless_it_is_listed(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up(monkeypatch, "93.184.215.14", address)
    assert not is_public(address)
    with pytest.raises(ParameterError, match="an address inside a network"):
        resolved("rec.example.org", 443, {"rec.example.org"}, is_encrypted=True)
    assert resolved("rec.example.org", 443, {"rec.example.org", address}, is_encrypted=True)[1] == address


def test_a_name_is_looked_up_once_and_without_tls_only_listed_addresses_are_asked(
    items: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(misbehaving(items, "well")) as address:
        lookups = []
        real = socket.getaddrinfo

        def look_up(host: str, *args: Any, **more: Any) -> Any:
            lookups.append(host)
            return real("127.0.0.1" if host == "rec.example.org" else host, *args, **more)

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        named = address.replace("127.0.0.1", "rec.example.org")
        service = Service("GRU", named, {"REC.example.org", "127.0.0.1"}, 10, retry_after=())
        recommend(service, make_request(), version="1", known=KNOWN)
        assert lookups == ["rec.example.org", "127.0.0.1"]  # the second is the address that is connected to
    looked_up(monkeypatch, "93.184.215.14")
    refusal = asked(Service("GRU", "http://rec.example.org", {"rec.example.org"}, 10))
    assert (refusal.code, refusal.extra["attempts"]) == ("remote.not_allowed", 1)
    assert "without TLS" in refusal.message


@pytest.mark.parametrize(
    "address",
    [
        "ftp://a.org", "https://", "https://a.org:0", "https://a.org:x", "https://me:pw@a.org", "https://a.org/?q=1",
        "https://a.org/#x", "https://a b.org", "file:///etc/passwd", "https://b.org", "https://a.org.b.org",
    ],
)  # fmt: skip
def test_only_addresses_of_listed_hosts_are_taken(address: str) -> None:
    with pytest.raises(ParameterError):
        check_service_address(address, {"a.org"})
    with pytest.raises(ParallaxError) as refusal:
        about(Service("GRU", address, {"a.org"}, 10))
    assert refusal.value.code == "remote.not_allowed"


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of rec.example.org and its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "rec.example.org")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("rec.example.org")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    return folder / "cert.pem", folder / "key.pem"


def test_certificates_are_verified_for_the_name_although_its_address_is_connected_to(
    items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = certificate(tmp_path)
    server = misbehaving(items, "well")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *args, **more: real("127.0.0.1", *args, **more))
    with running(server):
        port = server.server_port
        for host, trusted, is_accepted in (
            ("rec.example.org", False, False),
            ("other.example.org", True, False),
            ("rec.example.org", True, True),
        ):
            monkeypatch.setenv("SSL_CERT_FILE", str(cert)) if trusted else monkeypatch.delenv("SSL_CERT_FILE", False)
            client._tls.cache_clear()
            service = Service("GRU", f"https://{host}:{port}", {host, "127.0.0.1"}, 10, retry_after=())
            if is_accepted:
                assert about(service).content.version == "1"
            else:
                assert "CERTIFICATE_VERIFY_FAILED" in asked(service).message
    client._tls.cache_clear()

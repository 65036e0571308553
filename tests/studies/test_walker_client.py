"""The plain client of walks: forms, cookies, redirects, connections that the server lets go of, and faults."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from studies.walker.client import MOST_REDIRECTS, PlainClient

pytestmark = pytest.mark.unit

LONG = "lunga è la via " * 100_000


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _say(self, status: int, text: str = "", **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/page":
            self._say(200, f"{self.path} {self.headers.get('Cookie', '')} è {self.client_address[1]}")
        elif path == "/enter":
            self._say(302, Location="/page?entered=1", Set_Cookie="who=me; Path=/; HttpOnly")
        elif path == "/leave":
            self._say(200, "gone", Set_Cookie="who=; Max-Age=0; Path=/")
        elif path == "/circle":
            self._say(302, Location="/circle")
        elif path == "/away":
            self._say(302, Location="file:///etc/hostname")
        elif path == "/long":
            self._say(200, LONG)
        elif path == "/hang-up":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self._say(404, "no such page")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/keep":
            self._say(307, Location="/form")
        elif self.path == "/on":
            self._say(303, Location="/page?on=1")
        elif self.path == "/kept":
            self._say(204, HX_Redirect="/page")
        elif self.path == "/long":
            self._say(200, f"{len(body)} {self.headers.get('Expect')}")
        else:
            self._say(200, f"{sorted(parse_qs(body).items())} {self.headers['Content-Type']}")
            if self.headers.get("X-Last"):
                self.close_connection = True

    def log_message(self, *_what: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def client(url: str) -> Iterator[PlainClient]:
    with PlainClient(url, 5) as made:
        yield made


@contextmanager
def server_that(*connections: Sequence[str]) -> Iterator[str]:
    """A server that reads every request, and on each connection answers it, hangs up, or goes for good."""

    def serve() -> None:
        for acts in connections:
            connection, _ = listening.accept()
            with connection:
                for act in acts:
                    connection.recv(65536)
                    if act == "answers":
                        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    elif act == "goes":
                        listening.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_forms_are_sent_as_a_browser_sends_them(client: PlainClient) -> None:
    said = client.post("/form", data={"box": ["1", "2"], "word": "è & é"})
    assert said.text == "[('box', ['1', '2']), ('word', ['è & é'])] application/x-www-form-urlencoded"
    assert (said.status_code, said.is_error, said.history) == (200, False, ())


def test_cookies_are_kept_until_the_site_takes_them_back(client: PlainClient, url: str) -> None:
    entered = client.get("/enter")
    assert entered.text.startswith("/page?entered=1 who=me è ")
    assert (entered.url, entered.history) == (f"{url}/page?entered=1", (f"{url}/enter",))
    client.get("/leave")
    assert client.get("/page", params={"q": "due parole"}).text.startswith("/page?q=due+parole  è ")


def test_a_post_that_is_led_on_becomes_a_get_unless_the_site_says_to_keep_it(client: PlainClient) -> None:
    assert client.post("/on", data={"a": "1"}).text.startswith("/page?on=1")
    assert client.post("/keep", data={"a": "1"}).text.startswith("[('a', ['1'])]")
    assert client.get("/enter", follow_redirects=False).status_code == 302


def test_one_connection_is_kept_and_one_that_was_let_go_is_made_anew(client: PlainClient) -> None:
    ports = {client.get("/page").text.rpartition(" ")[2] for _ in range(3)}
    assert len(ports) == 1
    client.post("/form", data={}, headers={"X-Last": "1"})
    assert client.get("/page").text.rpartition(" ")[2] not in ports


@pytest.mark.parametrize("is_form", [False, True])
def test_a_request_that_a_kept_connection_lost_is_sent_once_more(is_form: bool) -> None:
    def ask(client: PlainClient) -> str:
        return (client.post("/", data={"a": "1"}) if is_form else client.get("/")).text

    with server_that(["answers", "hangs up"], ["answers"]) as url, PlainClient(url, 5) as client:
        assert [ask(client), ask(client)] == ["ok", "ok"]
    with server_that(["answers", "hangs up"], ["hangs up"]) as url, PlainClient(url, 5) as client:
        ask(client)
        with pytest.raises(httpx.RemoteProtocolError):
            ask(client)
    with server_that(["answers", "goes"]) as url, PlainClient(url, 5) as client:
        ask(client)
        with pytest.raises(httpx.ConnectError):
            ask(client)


def test_an_empty_answer_is_one_and_what_is_meant_for_htmx_leads_nowhere(client: PlainClient, url: str) -> None:
    kept = client.post("/kept", data={"a": "1"}, headers={"HX-Request": "true"})
    assert (kept.status_code, kept.is_error, kept.text, kept.url, kept.history) == (204, False, "", f"{url}/kept", ())


def test_words_of_every_alphabet_may_stand_in_an_address(client: PlainClient, url: str) -> None:
    found = client.get("/page", params={"q": "perché 100% & 東京"})
    assert found.url == f"{url}/page?q=perch%C3%A9+100%25+%26+%E6%9D%B1%E4%BA%AC"
    assert parse_qs(urlsplit(found.text.partition(" ")[0]).query) == {"q": ["perché 100% & 東京"]}
    assert client.get("/page?q=a%2Fb").text.startswith("/page?q=a%2Fb ")


def test_long_pages_come_whole_and_long_forms_go_at_once(client: PlainClient) -> None:
    assert client.get("/long").text == LONG
    assert client.post("/long", data={"a": "1" * 2_000_000}).text == "2000002 None"


def test_no_proxy_stands_between_and_no_file_is_read(client: PlainClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert client.get("/page").status_code == 200
    with pytest.raises(httpx.TransportError, match="file"):
        client.get("/away")


def test_faults_have_names(client: PlainClient, url: str) -> None:
    with pytest.raises(httpx.TooManyRedirects, match=f"more than {MOST_REDIRECTS} times"):
        client.get("/circle")
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/hang-up")
    refused = client.get("/nowhere")
    assert (refused.is_error, refused.status_code, refused.text) == (True, 404, "no such page")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(httpx.ConnectError), PlainClient(f"http://127.0.0.1:{free.getsockname()[1]}", 5) as nobody:
            nobody.get("/page")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(httpx.ReadTimeout), PlainClient(f"http://127.0.0.1:{port}", 0.2) as waiting:
            waiting.get("/page")
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting_already = [socket.socket() for _ in range(3)]
        for one in waiting_already:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        with (
            pytest.raises(httpx.ConnectError),
            PlainClient(f"http://127.0.0.1:{full.getsockname()[1]}", 0.2) as unheard,
        ):
            unheard.get("/page")
        for one in waiting_already:
            one.close()

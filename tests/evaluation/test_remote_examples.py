"""The example programs of remote recommenders: a language model on a stub, batches, and a process that is killed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from batch import collect
from llm import Answering, LanguageModel, key
from service import Catalogue, Server

from core.errors import ParallaxError
from evaluation.remote.client import Service, about, recommend
from tests.factories.remote import HERE, make_request, running, service_that_is, write_items

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "remote-recommender"
pytestmark = pytest.mark.integration
KNOWN = frozenset(str(number) for number in range(20))
Prompts = list[dict[str, Any]]


@contextmanager
def language_model(items: Path, answers: Callable[[int], str]) -> Iterator[tuple[Service, Prompts]]:
    """The service of a language model that gives these answers, and what it is asked."""
    asked: Prompts = []

    class Chat(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            content = json.dumps({"choices": [{"message": {"content": answers(len(asked))}}]})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *args: Any) -> None: ...

    with running(HTTPServer(("127.0.0.1", 0), Chat)) as chat:
        recommender = LanguageModel(Catalogue(items), f"{chat}/v1/chat/completions", "small")
        with running(Server(recommender, 0, "", Answering)) as address:
            yield Service("LLM", address, HERE, 10, retry_after=()), asked


def test_titles_of_a_language_model_become_items_and_invented_ones_are_counted(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl")
    first = "1. Title 8\n2. Title 9 (1999)\n- Title 3\nA Film That Nobody Made\n\nTITLE 8\n"
    texts = [first, "Title 10\nTitle 11!\nAnother\nTitle 12\nTitle 13"]
    with language_model(tmp_path / "items.jsonl", lambda n: texts[n - 1]) as (service, asked):
        described = about(service).content
        assert not described.deterministic
        reply = recommend(service, make_request(), version=described.version, known=KNOWN).content
        assert [listed.item for listed in reply.items] == ["8", "9", "10", "11", "12"]
        assert reply.facts == {"answers": 2, "invented": 2, "excluded": 1}
        prompt = asked[0]["messages"][0]["content"]
        assert "Title 3: 4\nTitle 7: 4" in prompt
        assert asked[1]["messages"][0]["content"] != prompt  # which names what was chosen
        # Model, prompt and parameters are in the version.
        others = {LanguageModel(Catalogue(tmp_path / "items.jsonl"), "", name).version for name in ("small", "large")}
        assert described.version in others
        assert len(others) == 2
    with language_model(tmp_path / "items.jsonl", lambda n: "Invented") as (service, asked):
        with pytest.raises(ParallaxError, match="answered /recommend with 500") as refusal:
            recommend(service, make_request(), version=described.version, known=KNOWN)
        assert refusal.value.code == "remote.unreachable"
        assert len(asked) == 3
    assert key("3) Alien: Resurrection (1997)") == "alien resurrection"


def test_a_batch_continues_where_it_stopped(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl")
    requests = [make_request(request=name, rated=(name,)).model_dump_json() for name in "1234"]
    file, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    file.write_text("\n".join(requests) + "\n")
    with service_that_is("well", tmp_path / "items.jsonl", token="t") as service:
        with pytest.raises(HTTPError, match="401"):
            collect(file, answers, service.address, 1e6)
        assert collect(file, answers, service.address, 1e6, "t") == 4
        whole = answers.read_text()
        answers.write_text(whole[: whole.rindex("items")])  # it ended within the last line
        assert collect(file, answers, service.address, 1e6, "t") == 1
    assert answers.read_text() == whole


def test_a_service_that_was_killed_answers_again_after_its_start(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, FOLDER / "misbehaving.py", tmp_path / "items.jsonl", "--port", str(port)]
    patient = Service("GRU", f"http://127.0.0.1:{port}", HERE, 10, retry_after=(0.5,) * 100)
    for _ in range(2):
        process = subprocess.Popen(command)
        try:
            assert recommend(patient, make_request(), version="1", known=KNOWN).content.items[0].item == "8"
        finally:
            process.kill()
            process.wait()
        with pytest.raises(ParallaxError, match="No connection"):
            about(Service("GRU", patient.address, HERE, 10, retry_after=()))

"""The protocol as a small server, without other packages: a function from a request to a list, behind HTTP."""

from __future__ import annotations

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Catalogue:
    """The items of a dataset, as the command export_items writes them, and their digest."""

    def __init__(self, file: Path) -> None:
        content = file.read_bytes()
        self.digest = hashlib.sha256(content).hexdigest()
        self.items = [json.loads(line) for line in content.splitlines()]
        self.ids = [item["item"] for item in self.items]


class Recommender:
    """What a service says of itself, and its lists."""

    version = "1"
    is_deterministic = True
    max_depth = 500

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue

    def recommend(self, request: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The list for a request, best item first, and facts to store with it."""
        raise NotImplementedError


def problem_of(request: Any, max_depth: int) -> str:
    """What is wrong with a request; empty if nothing is."""
    if not isinstance(request, dict) or not isinstance(request.get("request"), str):
        return "A request is an object with the text `request`."
    if type(request.get("n")) is not int or not 1 <= request["n"] <= max_depth:
        return f"`n` must be a whole number from 1 to {max_depth}."
    profile = request.get("profile")
    if not isinstance(profile, list) or not all(isinstance(each, dict) and "item" in each for each in profile):
        return "`profile` must be a list of items with ratings."
    return "" if isinstance(request.get("exclude"), list) else "`exclude` must be a list of ids."


class Handler(BaseHTTPRequestHandler):
    """Answers GET /about, POST /recommend and POST /recommend-many."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Say what this is."""
        own = self.server.recommender
        about = {
            "protocol": "parallax-recommender/1",
            "version": own.version,
            "catalogue": own.catalogue.digest,
            "deterministic": own.is_deterministic,
            "max_depth": own.max_depth,
        }
        if self.is_allowed():
            self.send(200 if self.path == "/about" else 404, about if self.path == "/about" else {})

    def do_POST(self) -> None:
        """Answer a request, or several."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_allowed():
            return
        try:
            message = json.loads(body)
            is_many = self.path == "/recommend-many"
            requests = message["requests"] if is_many else [message]
            problem = next(filter(None, (problem_of(each, self.server.recommender.max_depth) for each in requests)), "")
        except (ValueError, KeyError, TypeError):
            problem = "The body is not the JSON of a request."
        if problem:
            self.send(400, {"error": problem})
        else:
            answers = [self.answer(each) for each in requests]
            self.send(200, {"answers": answers} if is_many else answers[0])

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one valid request."""
        own = self.server.recommender
        items, facts = own.recommend(request)
        return {"request": request["request"], "version": own.version, "items": items, "facts": facts}

    def is_allowed(self) -> bool:
        """Whether the request has the token; answers it if not."""
        if self.server.token and self.headers.get("Authorization") != f"Bearer {self.server.token}":
            self.send(401, {"error": "The bearer token is missing or wrong."})
            return False
        return True

    def send(self, status: int, message: Any) -> None:
        """Send JSON."""
        content = json.dumps(message).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Log nothing: requests hold what people rated."""


class Server(ThreadingHTTPServer):
    """A server on this machine; port 0 takes a free one."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, recommender: Recommender, port: int, token: str = "", handler: type[Handler] = Handler) -> None:
        self.recommender, self.token = recommender, token
        super().__init__(("127.0.0.1", port), handler)

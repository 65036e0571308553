"""A service that breaks the protocol in one way, to see what Parallax does then.

python misbehaving.py items.jsonl --how repeating --port 8200
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from pathlib import Path
from typing import Any

from service import Catalogue, Handler, Recommender, Server

WAYS = (
    "well",  # as the protocol asks
    "slow",  # no answer for a minute
    "dripping",  # a byte now and then, so that the connection never rests
    "dead",  # the connection ends without an answer
    "recovering",  # 503 twice, then as the protocol asks
    "malformed",  # half of the JSON
    "huge",  # more than 1 MB
    "redirecting",  # to another address of this machine
    "repeating",  # an item twice
    "excluded",  # an item of the profile
    "unknown",  # an item that is not in the catalogue
    "short",  # one item too few
    "other-version",  # lists of a version that /about does not name
    "other-request",  # the list of another request
    "random",  # says that it is deterministic, and is not
    "careless",  # answers wrong requests as well
)


class InOrder(Recommender):
    """The items after the last rated one, in the order of the catalogue."""

    def recommend(self, request: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        ids, excluded = self.catalogue.ids, set(request["exclude"])
        last = max(request["profile"], key=lambda each: each.get("order", 0), default={"item": ids[-1]})["item"]
        start = ids.index(last) + 1 if last in ids else 0
        allowed = [item for item in ids[start:] + ids[:start] if item not in excluded]
        return [{"item": item, "score": -float(rank)} for rank, item in enumerate(allowed[: request["n"]])], {}


class Misbehaving(Handler):
    """The server's handler with one fault."""

    how = "well"
    attempts = itertools.count(1)

    def do_POST(self) -> None:
        if self.how == "slow":
            time.sleep(60)
        elif self.how == "dead":
            self.close_connection = True
            return
        elif self.how == "recovering" and next(self.attempts) % 3:
            self.send(503, {"error": "Not yet."})
            self.close_connection = True
            return
        elif self.how == "redirecting":
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/about")
            self.send_header("Content-Length", "0")
            self.end_headers()
            self.close_connection = True
            return
        super().do_POST()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = super().answer(request)
        items = answer["items"]
        if self.how == "repeating":
            items[-1] = items[0]
        elif self.how == "excluded":
            items[0]["item"] = request["exclude"][0]
        elif self.how == "unknown":
            items[0]["item"] = "no such item"
        elif self.how == "short":
            items.pop()
        elif self.how == "random":
            random.shuffle(items)
        elif self.how == "huge":
            answer["facts"] = {"log": "x" * 2**21}
        elif self.how == "other-version":
            answer["version"] = "2"
        elif self.how == "other-request":
            answer["request"] = "another"
        return answer

    def send(self, status: int, message: Any) -> None:
        if self.command == "GET":
            super().send(status, message)
        elif self.how == "careless" and status == 400:
            super().send(200, {"items": []})
        elif self.how == "malformed":
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"items": [')
        elif self.how == "dripping":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            for _ in range(1_000_000):
                self.wfile.write(b" ")
                time.sleep(0.1)
        else:
            super().send(status, message)


def misbehaving(items: Path, how: str, port: int = 0, token: str = "") -> Server:
    """The server, not yet running."""
    handler = type("Handler", (Misbehaving,), {"how": how, "attempts": itertools.count(1)})
    return Server(InOrder(Catalogue(items)), port, token, handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=Path)
    parser.add_argument("--how", choices=WAYS, default="well")
    parser.add_argument("--port", type=int, default=8200)
    parser.add_argument("--token", default="")
    options = parser.parse_args()
    misbehaving(options.items, options.how, options.port, options.token).serve_forever()

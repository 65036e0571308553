"""A language model as a recommender: it writes titles, which are looked up in the catalogue.

python llm.py items.jsonl --url http://127.0.0.1:11434/v1/chat/completions --model MODEL --port 8200

The address is one of an API of chat completions; its key is read from LLM_KEY. Titles that no item has are counted as
invented. If too few are left after three answers, the request fails: nothing else fills the list.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import urllib.request
from pathlib import Path
from typing import Any

from service import Catalogue, Handler, Recommender, Server

PROMPT = """Someone rated these titles from {low:g} to {high:g}:
{profile}
Recommend {n} other titles that they would like best, the best first. Never name one of these: {avoided}.
Answer with one title on each line and nothing else."""
PARAMETERS = {"temperature": 0, "max_tokens": 2000}
MOST_ASKED = 3


def key(title: str) -> str:
    """A title as it is compared: without case, number of the line, year and punctuation."""
    plain = re.sub(r"^\s*(?:\d+[.)]|[-*])\s+|\(\d{4}\)\s*$", "", title.casefold())
    return re.sub(r"\W+", " ", plain).strip()


class LanguageModel(Recommender):
    """Asks a language model, and answers with the items of the titles that it writes."""

    is_deterministic = False  # not even at temperature 0
    max_depth = 50

    def __init__(self, catalogue: Catalogue, url: str, model: str) -> None:
        super().__init__(catalogue)
        self.url, self.model = url, model
        self.titles = {item["item"]: item["title"] for item in catalogue.items}
        self.ids = {key(title): item for item, title in reversed(self.titles.items())}
        whole = json.dumps([PROMPT, model, PARAMETERS, MOST_ASKED, Path(__file__).read_text()], sort_keys=True)
        self.version = f"{model}-{hashlib.sha256(whole.encode()).hexdigest()[:12]}"

    def recommend(self, request: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        excluded = set(request["exclude"])
        chosen: list[str] = []
        facts = {"answers": 0, "invented": 0, "excluded": 0}
        while len(chosen) < request["n"] and facts["answers"] < MOST_ASKED:
            facts["answers"] += 1
            for title in filter(None, map(key, self.ask(request, [*request["exclude"], *chosen]).splitlines())):
                item = self.ids.get(title)
                facts["invented"] += item is None
                facts["excluded"] += item in excluded
                if item is not None and item not in excluded and item not in chosen:
                    chosen.append(item)
        if len(chosen) < request["n"]:
            raise RuntimeError(f"Only {len(chosen)} of {request['n']} titles are in the catalogue: {facts}.")
        return [{"item": item} for item in chosen[: request["n"]]], facts

    def ask(self, request: dict[str, Any], avoid: list[str]) -> str:
        """The text that the language model writes."""
        rated = "\n".join(f"{self.titles[each['item']]}: {each['rating']:g}" for each in request["profile"])
        avoided = ", ".join(self.titles[item] for item in avoid)
        prompt = PROMPT.format(**request["scale"], profile=rated, n=request["n"], avoided=avoided)
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}], **PARAMETERS}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('LLM_KEY', '')}"}
        call = urllib.request.Request(self.url, json.dumps(body).encode(), headers)  # noqa: S310 -- an address of your own
        with urllib.request.urlopen(call, timeout=60) as answer:  # noqa: S310
            return str(json.load(answer)["choices"][0]["message"]["content"])


class Answering(Handler):
    """Says with 500 that the language model failed, so that Parallax asks again and counts it."""

    def do_POST(self) -> None:
        try:
            super().do_POST()
        except (OSError, RuntimeError, KeyError) as problem:
            self.send(500, {"error": str(problem)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, default=8200)
    options = parser.parse_args()
    recommender = LanguageModel(Catalogue(options.items), options.url, options.model)
    Server(recommender, options.port, os.environ.get("TOKEN", ""), Answering).serve_forever()

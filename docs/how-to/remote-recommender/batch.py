"""Ask a service for the lists of many requests, and write its answers: one of each per line, in JSON.

python batch.py requests.jsonl answers.jsonl --url http://127.0.0.1:8200 --per-second 5

Requests that the file of answers already has are not asked again, so an interrupted run continues where it stopped.
The token is read from TOKEN.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import urllib.request
from pathlib import Path


def collect(requests: Path, answers: Path, url: str, per_second: float, token: str = "") -> int:
    """Ask for what is missing, and return how many lists were collected."""
    done = set()
    if answers.exists():
        # A line that was not finished is asked for again.
        whole = [line for line in answers.read_text().splitlines(keepends=True) if line.endswith("\n")]
        answers.write_text("".join(whole))
        done = {json.loads(line)["request"] for line in whole}
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    n_collected = 0
    with requests.open() as lines, answers.open("a") as file:
        for line in lines:
            if json.loads(line)["request"] in done:
                continue
            started = time.monotonic()
            call = urllib.request.Request(f"{url}/recommend", line.encode(), headers)  # noqa: S310 -- an address of your own
            with urllib.request.urlopen(call, timeout=60) as answer:  # noqa: S310
                file.write(json.dumps(json.load(answer)) + "\n")
            file.flush()
            n_collected += 1
            time.sleep(max(0.0, started + 1 / per_second - time.monotonic()))
    return n_collected


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--per-second", type=float, default=5.0)
    options = parser.parse_args()
    n = collect(options.requests, options.answers, options.url, options.per_second, os.environ.get("TOKEN", ""))
    print(f"{n} lists collected.")  # noqa: T201

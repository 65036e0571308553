"""An S3 server of its own process on this machine, and a gate in front of it that can be shut."""

from __future__ import annotations

import contextlib
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

KEY, SECRET = "test-key", "test-secret"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ObjectServer:
    """A moto server, which keeps buckets in its memory."""

    def __init__(self, log: Path) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
        ends = time.monotonic() + 120
        while not self._answers():
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < ends, "moto does not answer"
            time.sleep(0.1)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/moto-api/", timeout=5):  # noqa: S310
            return True
        return False

    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id=KEY, aws_secret_access_key=SECRET
        )

    def new_bucket(self) -> str:
        name = f"parallax-{secrets.token_hex(6)}"
        self.client().create_bucket(Bucket=name)
        return name

    def require_accounts(self, after: int | None) -> None:
        """Check credentials after so many requests, or never again."""
        body = str("inf" if after is None else after).encode()
        headers = {"Content-Type": "text/plain"}
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", body, headers, method="POST")  # noqa: S310
        urllib.request.urlopen(request, timeout=10).close()  # noqa: S310

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


class Gate:
    """Passes connections on to a server, notes the requests' first lines, and refuses connections while it is shut."""

    def __init__(self, target: str) -> None:
        self._target = ("127.0.0.1", int(target.rpartition(":")[2]))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: list[str] = []
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shut()

    def open(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def shut(self) -> None:
        """Refuse connections, and cut those that are open."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in list(self._open):
            _end(connection)

    def count(self, method: str, ending: str) -> int:
        lines = [line.split(" ") for line in self.requests]
        return sum(line[0] == method and line[1].partition("?")[0].endswith(ending) for line in lines)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(self._target)
            except OSError:
                return
            self._open |= {near, far}
            threading.Thread(target=self._pass, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(65536):
                line = chunk.split(b"\r\n", 1)[0]
                if is_request and line.endswith(b" HTTP/1.1"):
                    self.requests.append(line.decode())
                target.sendall(chunk)
        _end(source)
        _end(target)
        self._open -= {source, target}


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def bucket_environment(url: str, bucket: str) -> dict[str, str]:
    """The settings of an installation whose files are in this bucket."""
    return {
        "PARALLAX_ARTEFACTS_S3": f"s3://{bucket}/installation",
        "PARALLAX_S3_ENDPOINT": url,
        "PARALLAX_S3_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }


def bucket_storages(url: str, bucket: str) -> dict[str, Any]:
    """Django's STORAGES for this bucket, as the settings make them."""
    from parallax.env import bucket_options, storages_in

    options = bucket_options(
        f"s3://{bucket}/installation", endpoint_url=url, region_name="us-east-1", access_key=KEY, secret_key=SECRET
    )
    return storages_in(Path("/nowhere"), bucket=options, artefact_backend="")

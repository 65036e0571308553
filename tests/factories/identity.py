"""A small OpenID provider at 127.0.0.1: the code flow with PKCE, a client secret and signed identity tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, SECRET = "parallax", "the secret of the client"


class Provider:
    """Whoever comes is `person`; `told` changes what the identity token says."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {"sub": "1", "email": "ada@example.org", "email_verified": True, "name": "Ada"}
        self.told: dict[str, Any] = {}
        self.userinfo: dict[str, Any] | None = None
        self.codes: dict[str, dict[str, str]] = {}
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.issuer = ""

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert set(asked["scope"].split()) == {"openid", "profile", "email"}
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, sent: dict[str, str]) -> dict[str, Any] | None:
        asked = self.codes.pop(sent.get("code", ""), None)
        proof = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT_ID, SECRET)
            or base64.urlsafe_b64encode(proof).rstrip(b"=").decode() != asked["code_challenge"]
            or sent["redirect_uri"] != asked["redirect_uri"]
        ):
            return None
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, **self.person, **self.told}
        identity = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "k"})
        return {"access_token": "an access token", "token_type": "Bearer", "expires_in": 60, "id_token": identity}


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def _answer(self, content: Any, status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/.well-known/openid-configuration":
            self._answer(self.provider.configuration())
        elif address.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(address.query).items()}
            self.send_response(302)
            self.send_header("Location", self.provider.authorize(asked))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif address.path == "/userinfo" and self.headers["Authorization"] == "Bearer an access token":
            self._answer(self.provider.userinfo or self.provider.person)
        else:
            self._answer({}, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        answer = self.provider.token({name: values[0] for name, values in parse_qs(body).items()})
        self._answer(answer or {"error": "invalid_grant"}, 200 if answer else 400)


@contextmanager
def openid_provider() -> Iterator[Provider]:
    """A provider that runs until the end of the block."""
    provider = Provider()
    handler = type("Handler", (_Handler,), {"provider": provider})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()

"""One-time codes as an authenticator app computes them (RFC 6238)."""

from __future__ import annotations

import base64
import hmac
import struct
import time


def totp(secret: str, *, steps: int = 0, at: float | None = None) -> str:
    """The code of six digits, `steps` times 30 seconds from now."""
    counter = int((time.time() if at is None else at) // 30) + steps
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", counter), "sha1")
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06}"

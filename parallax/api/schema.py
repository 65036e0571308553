"""Error responses in the OpenAPI schema, common to all operations."""

from __future__ import annotations

from typing import Any

REFUSALS = {
    "400": "The request is invalid; `extra.fields` names the parameters and fields, and what is allowed.",
    "401": "No valid token.",
    "403": "Your role in the study or the token's scope does not allow this.",
    "404": "Not found, or you have no access to it.",
    "405": "The method is not allowed.",
    "406": "The requested format is not available.",
    "409": "The current state does not allow this; the message says what to do.",
    "429": "Rate limit exceeded; `Retry-After` says when to continue.",
    "503": "A stored file is missing or damaged.",
}
REFUSAL = {
    "type": "object",
    "description": "Every error response has this form.",
    "properties": {
        "code": {
            "type": "string",
            "description": "Stable, for use in programs.",
            "examples": ["export.only_simulated"],
        },
        "message": {"type": "string", "description": "Full sentences: what is wrong, and what to do."},
        "extra": {"type": "object", "additionalProperties": {}, "description": "Facts for programs."},
    },
    "required": ["code", "message", "extra"],
}


def add_refusals(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the error responses to every operation, and 415 to those with a request body, which has no other fields."""
    result["components"]["schemas"]["Refusal"] = REFUSAL
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            refusals = dict(REFUSALS)
            if "requestBody" in operation:
                refusals["415"] = "The body is not JSON."
                body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                result["components"]["schemas"][body]["additionalProperties"] = False
            for status, description in sorted(refusals.items()):
                operation["responses"].setdefault(status, {"description": description, "content": content})
    return result

"""The interface as an OpenAPI document: what every operation has in common, and its page."""

from __future__ import annotations

from typing import Any

REFUSALS = {
    "400": "Something in the request cannot be used; `extra.fields` names it.",
    "401": "No token, or none that is valid.",
    "403": "Your role in the study, or the token's scope, does not include this.",
    "404": "Nothing is there, or nothing that you may see.",
    "405": "The address does not take this method.",
    "406": "It is not given in the format asked for.",
    "409": "The state of things stands in the way; the message says what to do.",
    "429": "More requests than this token may make; `Retry-After` says when to go on.",
    "503": "A stored file is missing or damaged.",
}
REFUSAL = {
    "type": "object",
    "description": "Every refusal has this shape.",
    "properties": {
        "code": {
            "type": "string",
            "description": "Stable: programs rely on it.",
            "examples": ["export.only_simulated"],
        },
        "message": {"type": "string", "description": "Full sentences: what is wrong and what to do now."},
        "extra": {"type": "object", "additionalProperties": {}, "description": "Facts for programs."},
    },
    "required": ["code", "message", "extra"],
}


def add_refusals(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Say of every operation how it refuses, and of those that take a body how they refuse another kind of body."""
    result["components"]["schemas"]["Refusal"] = REFUSAL
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            refusals = dict(REFUSALS)
            if "requestBody" in operation:
                refusals["415"] = "The body is not JSON."
            for status, description in sorted(refusals.items()):
                operation["responses"].setdefault(status, {"description": description, "content": content})
    return result

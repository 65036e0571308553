"""Operations of the REST API."""

from __future__ import annotations

from parallax.api.operations import interface
from reference.markdown import code, table


def entries() -> str:
    """Every operation with its parameters and what it returns."""
    parts = []
    for operation in (operation for group in interface()[0] for operation in group["operations"]):
        parts += [f"### {operation.method} {operation.path}", operation.description or operation.summary]
        rows = [(code(each.name), each.type or each.object, each.description) for each in operation.parameters]
        if rows:
            parts.append(table(("parameter", "value", "meaning"), rows))
        returned = operation.returns.object or (code(operation.returns.name) if operation.returns.name else "nothing")
        parts.append(f"Returns {operation.status}: {returned}.")
    return "\n\n".join(parts)

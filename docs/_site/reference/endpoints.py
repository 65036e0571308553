"""Operations of the REST API."""

from __future__ import annotations

from parallax.api.operations import Operation, interface
from reference.markdown import code, table


def entries() -> str:
    """Every operation with its parameters and what it returns."""
    return "\n\n".join(_entry(operation) for group in interface()[0] for operation in group["operations"])


def _entry(operation: Operation) -> str:
    parts = [f"### {operation.method} {operation.path}", operation.description or operation.summary]
    rows = [(code(each.name), each.type or each.object, each.description) for each in operation.parameters]
    if rows:
        parts.append(table(("parameter", "value", "meaning"), rows))
    returned = operation.returns.object or (code(operation.returns.name) if operation.returns.name else "nothing")
    return "\n\n".join([*parts, f"Returns {operation.status}: {returned}."])

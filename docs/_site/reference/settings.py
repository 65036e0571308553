"""Settings: the environment variables that the code reads, with their types and defaults."""

from __future__ import annotations

import ast
from pathlib import Path

from reference.markdown import code, table

SETTINGS = Path(__file__).resolve().parents[3] / "parallax" / "settings.py"
TYPES = {
    "env_str": "text",
    "env_bool": "`1` or `0`",
    "env_int": "whole number",
    "env_bytes": "size, such as `800M`",
    "env_site": "address",
    "env_list": "list with commas",
    "env_choice": "one of",
    "env_secret": "secret text",
    "env_key": "secret text",
    "env_database": "database URL",
    "env_redis": "address of Redis",
}
FROM_FILES = {"env_secret", "env_key", "env_database", "env_redis"}  # by NAME_FILE


def entries() -> str:
    """A table of every variable."""
    rows = []
    for name, call in variables().items():
        reader = ast.unparse(call.func)
        kind = TYPES[reader]
        if reader == "env_choice":
            kind = "one of " + ", ".join(code(word) for word in ast.literal_eval(call.args[1]))
        rows.append((code(name), kind, _default(call, reader), "yes" if reader in FROM_FILES else ""))
    return table(("variable", "type", "default in the code", "from a file"), rows)


def variables() -> dict[str, ast.Call]:
    """The calls that read a variable, by its name, in the order of the settings."""
    calls: dict[str, ast.Call] = {}
    for node in ast.walk(ast.parse(SETTINGS.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("env_"):
            name = ast.literal_eval(node.args[0])
            calls.setdefault(name, node)
    return dict(sorted(calls.items()))


def _default(call: ast.Call, reader: str) -> str:
    if reader == "env_choice" and not call.keywords:
        return code(str(ast.literal_eval(call.args[1])[0]))
    stated = [word.value for word in call.keywords if word.arg == "default"] or call.args[1:2]
    if not stated:
        return ""
    try:
        value = ast.literal_eval(stated[0])
    except ValueError:
        return "computed"
    if isinstance(value, bool):
        return code(str(int(value)))
    return code(",".join(value) if isinstance(value, list) else str(value))

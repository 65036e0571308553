"""The documentation page of the splits, generated from their registry.

python -m evaluation.splitting.split_table docs/reference/splits.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from evaluation.splitting.registry import SPLITS, SplitKind
from recommenders.parameters import ParameterInfo

HEAD = """# Splits

Generated from the registry by `python -m evaluation.splitting.split_table docs/reference/splits.md`; a test compares
the two. A split is written `name` or `name:option=value,option=value`, for example `temporal-global:share=.1`.
`dev-eval` wraps another and takes its options too: `dev-eval:of=all-but-n,n=1,development=.5`.

Reserved users are excluded before any split. Draws depend only on seed, user and item, so the order of ratings, parts
and workers does not matter. Every split reports counts of what it excluded. A study can use splits that train one model
per algorithm, which it serves; it cannot use the others.

`strangers` tests strong generalisation (Marlin, 2004): one model per algorithm is trained on the training users alone,
and every test user is scored from a profile that the model has not seen, by the same function that serves participants.
`dev-eval:of=strangers,share=.2,given=0,given_share=.8` has the training, validation and test users of Liang et al.
(2018).
"""


def _option(info: ParameterInfo) -> str:
    allowed = " or ".join(info.choices)
    if info.minimum is not None and info.maximum is not None:
        allowed = f"{info.minimum:g} to {info.maximum:g}"
    elif info.minimum is not None:
        allowed = f"at least {info.minimum:g}"
    default = "none" if info.default == "" else f"{info.default}"
    return f"`{info.name}` ({f'{allowed}; ' if allowed else ''}default {default}): {info.description}"


def _row(kind: SplitKind) -> str:
    is_needed = kind.needs_times(kind.options())
    options = "<br>".join(_option(info) for info in kind.options.described())
    cells = (
        f"`{kind.key}`<br>{kind.title}",
        kind.hides,
        kind.assumes,
        options,
        "yes" if is_needed else "no",
        "one" if kind.may_back_a_study else "many",
    )
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """The page, in Markdown.

    Examples
    --------
    >>> table().splitlines()[0]
    '# Splits'
    """
    heads = "| name | hidden | takes for granted | options | times needed by default | models per algorithm |"
    return "\n".join([HEAD, heads, "|---|---|---|---|---|---|", *(_row(kind) for kind in SPLITS.values()), ""])


def main(arguments: list[str]) -> None:
    """Write the page to the file named, or print it."""
    if arguments:
        Path(arguments[0]).write_text(table(), encoding="utf-8")
    else:
        sys.stdout.write(table())


if __name__ == "__main__":
    main(sys.argv[1:])

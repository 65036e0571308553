"""How many threads the project's own compiled loops may use, and the pool that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from core.errors import ParameterError

__all__ = ["each", "numeric_threads", "using"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_threads: ContextVar[int] = ContextVar("numeric_threads", default=1)


def numeric_threads() -> int:
    """Number of threads that a compiled loop may use here; 1 unless `using` says otherwise."""
    return _threads.get()


@contextmanager
def using(n: int) -> Iterator[None]:
    """Let compiled loops use `n` threads within the block.

    Results do not depend on the number: threads share out rows, and no sum is divided among them.

    Raises
    ------
    ParameterError
        If `n` < 1.

    Examples
    --------
    >>> with using(2):
    ...     numeric_threads()
    2
    """
    if n < 1:
        raise ParameterError(f"Compiled loops need at least one thread; got {n}.")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


def each(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    """Do `work` on every piece, on as many threads as are allowed, and return the results in order.

    The work should spend its time in code that lets go of the interpreter, and write to places of its own.

    Examples
    --------
    >>> with using(2):
    ...     each(lambda piece: piece * 10, [1, 2, 3])
    [10, 20, 30]
    """
    n_threads = min(numeric_threads(), len(pieces))
    if n_threads < 2:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, pieces))

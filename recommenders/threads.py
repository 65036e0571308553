"""How many threads the project's own compiled loops may use, and the pool that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from core.errors import ParameterError
from recommenders.progress import Progress, no_progress

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_threads: ContextVar[int] = ContextVar("numeric_threads", default=1)


def numeric_threads() -> int:
    """Number of threads that a compiled loop may use here; 1 unless `using` says otherwise."""
    return _threads.get()


@contextmanager
def using(n: int) -> Iterator[None]:
    """Let compiled loops use `n` threads within the block.

    Results do not depend on the number: threads share out rows, and no sum is divided among them. Raises ParameterError
    if `n` < 1.
    """
    if n < 1:
        raise ParameterError(f"Compiled loops need at least one thread; got {n}.")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


@contextmanager
def one_library_thread() -> Iterator[None]:
    """Hold linear algebra to one thread in each of ours, where there are several of those."""
    if numeric_threads() > 1:
        # Each of our threads would otherwise start as many of the library's, which then wait for each other's cores.
        with threadpool_limits(1):
            yield
    else:
        yield


def each(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], progress: Progress = no_progress, what: str = ""
) -> list[Result]:
    """Do `work` on every piece, on as many threads as are allowed, and return the results in order.

    The work should spend its time in code that lets go of the interpreter, and write to places of its own. The
    progress is told of `what` by the calling thread before every piece; what it raises stops the rest.

    Examples
    --------
    >>> with using(2):
    ...     each(lambda piece: piece * 10, [1, 2, 3])
    [10, 20, 30]
    """
    n_threads = min(numeric_threads(), len(pieces))
    results: list[Result] = []
    # Without a pool: a single thread of its own would only hide the caller's traceback and context.
    if n_threads < 2:
        for piece in pieces:
            progress(len(results) / len(pieces), what)
            results.append(work(piece))
        return results
    with ThreadPoolExecutor(n_threads) as pool:
        under_way = [pool.submit(work, piece) for piece in pieces]
        try:
            # In the order of the pieces, so that results do not depend on which thread was faster.
            for future in under_way:
                progress(len(results) / len(pieces), what)
                results.append(future.result())
        finally:
            # Nothing is left to cancel where all went well.
            pool.shutdown(wait=True, cancel_futures=True)
    return results

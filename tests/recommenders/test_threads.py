from __future__ import annotations

import threading
import time

import pytest

from core.errors import ParameterError
from recommenders.threads import each, numeric_threads, using

pytestmark = pytest.mark.unit


def test_threads_are_one_unless_said_otherwise():
    with using(3):
        assert numeric_threads() == 3
        with using(2):
            assert numeric_threads() == 2
        assert numeric_threads() == 3
    assert numeric_threads() == 1


def test_no_threads_are_refused():
    with pytest.raises(ParameterError, match="got 0"), using(0):
        pass


def test_pieces_run_side_by_side_and_come_back_in_order():
    together = threading.Barrier(2, timeout=20)

    def work(piece: int) -> int:
        together.wait()  # passes only when two pieces are under way at once
        return piece

    with using(2):
        assert each(work, range(4)) == [0, 1, 2, 3]


def test_one_piece_needs_no_second_thread():
    with using(2):
        assert each(lambda piece: threading.current_thread(), [0]) == [threading.current_thread()]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_progress_raises_stops_the_rest(n_threads):
    begun: list[int] = []

    def work(piece: int) -> int:
        begun.append(piece)
        time.sleep(0.01)
        return piece

    def stop(share: float, what: str) -> None:
        assert what == "Counting"
        if share > 0.1:
            raise InterruptedError(what)

    with using(n_threads), pytest.raises(InterruptedError):
        each(work, range(100), stop, "Counting")
    assert 10 < len(begun) < 50

"""Products of one set of ratings that several models are made from."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import ref

Product = TypeVar("Product")


class Remembered(Generic[Product]):
    """Holds the product of the owner that asked last, as long as that owner lives.

    A run fits several models on the same ratings, one after the other: what they share is made once. Only one
    product is held, and by a weak reference to its owner, so memory is bounded and nothing outlives its data.

    Examples
    --------
    >>> class Owner: ...
    >>> owner, held = Owner(), Remembered()
    >>> held.of(owner, lambda: "made"), held.of(owner, lambda: "made again")
    ('made', 'made')
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._owner: Callable[[], Any] = lambda: None
        self._product: Product | None = None

    def of(self, owner: object, make: Callable[[], Product]) -> Product:
        """Return the owner's product, made by `make` if it is not the one held."""
        with self._lock:
            if self._product is None or self._owner() is not owner:
                self._product = None  # let go of the old one before the new one needs the room
                product = make()
                self._owner, self._product = ref(owner, self._forget), product
            return self._product

    def _forget(self, reference: object) -> None:
        # Called for the present owner only: the reference to an earlier one is gone, and its callback with it.
        self._product = None

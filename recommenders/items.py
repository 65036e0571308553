"""What an algorithm may know of the items beside their numbers: by field, for classes that ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError

ITEM_FIELDS = frozenset({"ids", "titles", "years", "texts", "images", "features"})


class Items:
    """The fields of the items that a class names in `item_fields`; each is read when it is first used, and then shared.

    Entry i of a field belongs to column i of the ratings. Using another field raises DataError. `readers`: a function
    without arguments that returns a field, by its name.

    Examples
    --------
    >>> items = Items({"ids": lambda: ("50", "318")})
    >>> items.ids
    ('50', '318')
    """

    def __init__(self, readers: Mapping[str, Callable[[], Any]]) -> None:
        self._readers = dict(readers)

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that can be used."""
        return frozenset(self._readers)

    @property
    def ids(self) -> tuple[str, ...]:
        """The source's own id of each item."""
        return self._read("ids")  # type: ignore[no-any-return]

    @property
    def titles(self) -> tuple[str, ...]:
        """The title of each item, in the language of the dataset; the id where the source has no title."""
        return self._read("titles")  # type: ignore[no-any-return]

    @property
    def years(self) -> NDArray[np.int64]:
        """The year of each item, shape (n_items,); 0 where it is unknown."""
        return self._read("years")  # type: ignore[no-any-return]

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """The description of each item (a film's plot) by language, empty where there is none.

        The key "" has the dataset's own descriptions, others have translations, as in ``texts["it"][3]``.
        """
        return self._read("texts")  # type: ignore[no-any-return]

    @property
    def images(self) -> tuple[str, ...]:
        """The path of each item's own picture, empty where it has none."""
        return self._read("images")  # type: ignore[no-any-return]

    @property
    def features(self) -> Any:
        """`recommenders.data.ItemFeatures`: genres, people, tags and words of descriptions, not those of titles."""
        return self._read("features")

    def _read(self, name: str) -> Any:
        if name not in self._readers:
            raise DataError(
                f"The item field {name!r} was not asked for. Add it to item_fields of the class, which has "
                f"{', '.join(sorted(self._readers)) or 'none'}."
            )
        return self._readers[name]()


NO_ITEMS = Items({})

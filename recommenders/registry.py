"""The registry of algorithms: keys, classes and parameters.

A third party adds an algorithm by an entry point of the group ``parallax.algorithms``, whose name is the key and
whose object is a subclass of `recommenders.base.Algorithm`; it is imported on first use. Algorithms of the library
implicit are listed where it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from core.errors import ParameterError
from recommenders import implicit_models
from recommenders.aspect import Aspect, AspectContent
from recommenders.association import ItemItem
from recommenders.asysvd import AsySVD
from recommenders.base import Algorithm
from recommenders.data_limits import TrainingSize
from recommenders.ease import EASE
from recommenders.expected_utility import ExpectedUtility
from recommenders.ials import IALS
from recommenders.implicit_models import ImplicitALS, ImplicitBPR, ImplicitCosine
from recommenders.item_neighbours import CorNgr, NNCosNgr
from recommenders.logistic_pca import LPCA
from recommenders.lsa import LSA
from recommenders.naive_bayes import NaiveBayes
from recommenders.parameters import Parameters
from recommenders.popularity import PopularityLikes, Random, TopPop
from recommenders.puresvd import PureSVD
from recommenders.reranking import BAR, RERANKERS, Reranked, reranked
from recommenders.uploaded import Factors, Matrix, Uploaded
from recommenders.uploaded_lists import Lists
from recommenders.user_neighbours import UserKNNCosine, UserKNNPearson

ENTRY_POINT_GROUP = "parallax.algorithms"


class _ExpectedUtility(ExpectedUtility):
    @classmethod
    def find_scorer(cls, specification: str) -> tuple[type[Algorithm], Parameters]:
        key, params = parse(specification)
        return algorithm(key), params


_OWN: dict[str, type[Algorithm]] = {
    own.key: own
    for own in (
        *(TopPop, CorNgr, NNCosNgr, AsySVD, PureSVD, LSA),
        *(UserKNNPearson, UserKNNCosine, ItemItem, _ExpectedUtility, PopularityLikes),
        *(LPCA, Aspect, AspectContent, NaiveBayes, Random, EASE, IALS),
    )
}
_UPLOADED: dict[str, type[Uploaded]] = {uploaded.key: uploaded for uploaded in (Matrix, Factors, Lists)}
_FAMILIES: dict[str, tuple[type[Algorithm], ...]] = {
    "The same for everyone": (TopPop, PopularityLikes, Random),
    "Neighbourhoods of items": (CorNgr, NNCosNgr, ItemItem),
    "Neighbourhoods of users": (UserKNNPearson, UserKNNCosine),
    "Latent factors": (PureSVD, AsySVD, IALS, LPCA, Aspect),
    "Linear models": (EASE,),
    "Item features": (LSA, AspectContent, NaiveBayes),
    "On top of another algorithm": (_ExpectedUtility,),
}
_IMPLICIT: dict[str, type[Algorithm]] = {kind.key: kind for kind in (ImplicitALS, ImplicitBPR, ImplicitCosine)}


def keys() -> tuple[str, ...]:
    """Every key of an algorithm that can be fitted: the project's own, those of implicit if installed, then third
    parties' in alphabetical order. Algorithms that read an upload (`uploaded_keys`) are not among them.
    """
    return (*_OWN, *(_IMPLICIT if implicit_models.is_installed() else ()), *sorted(_added()))


def uploaded_keys() -> tuple[str, ...]:
    """The keys of algorithms that read an upload; `algorithm` and the functions on parameters know them too."""
    return tuple(_UPLOADED)


def families() -> dict[str, tuple[str, ...]]:
    """Every key, by the title of its family: as algorithms are offered in forms.

    Examples
    --------
    >>> families()["Linear models"]
    ('ease',)
    """
    listed = keys()
    grouped = {title: tuple(own.key for own in classes) for title, classes in _FAMILIES.items()}
    grouped["Other libraries"] = tuple(key for key in _IMPLICIT if key in listed)
    grouped["Added by packages"] = tuple(key for key in listed if key not in _OWN and key not in _IMPLICIT)
    return {title: members for title, members in grouped.items() if members}


def algorithm(key: str) -> type[Algorithm]:
    """Look up an algorithm by its key, with its re-ranker if it has one: ``puresvd|mmr``.

    Raises ParameterError when the key is unknown, its library implicit is not installed (the message says how to
    install it), or a third party's entry point is not an algorithm with that key.
    """
    if BAR in key:
        over, _, method = key.rpartition(BAR)
        return reranked(algorithm(over), method)
    if key in _OWN:
        return _OWN[key]
    if key in _UPLOADED:
        return _UPLOADED[key]
    if key in _IMPLICIT:
        if not implicit_models.is_installed():
            raise ParameterError(
                f"The algorithm {key!r} is that of the library implicit, which is not installed. Install the version "
                f"that it is tested with: {install_command(key)}"
            )
        return _IMPLICIT[key]
    added = _added()
    if key not in added:
        raise ParameterError(f"There is no algorithm {key!r}; the algorithms are: {', '.join(keys())}.")
    loaded = added[key].load()
    if not (isinstance(loaded, type) and issubclass(loaded, Algorithm) and loaded.key == key):
        raise ParameterError(
            f"The entry point {added[key].value} of {ENTRY_POINT_GROUP} is not an Algorithm with key {key!r}."
        )
    return loaded


def is_listed(key: str) -> bool:
    """Whether there is an algorithm with this key, re-ranked or not.

    Examples
    --------
    >>> is_listed("puresvd|mmr"), is_listed("puresvd|bubble-sort")
    (True, False)
    """
    over, bar, method = key.partition(BAR)
    return over in (*keys(), *uploaded_keys()) and (not bar or method in RERANKERS)


def base_of(key: str, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The algorithm that a re-ranked one starts from, with its parameters; None for any other.

    Examples
    --------
    >>> base_of("puresvd|popularity", {"factors": 300, "popularity_strength": 0.5})
    ('puresvd', {'factors': 300})
    """
    kind = algorithm(key)
    if not issubclass(kind, Reranked):
        return None
    return kind.over.key, kind.base_params(params_of(key, values)).as_dict()


def install_command(key: str) -> str | None:
    """The command that installs the library implicit for an algorithm of it; None for other algorithms."""
    is_of_implicit = key.partition(BAR)[0] in _IMPLICIT
    return f".venv/bin/pip install implicit=={implicit_models.TESTED_VERSION}" if is_of_implicit else None


def package_of(key: str) -> tuple[str, str] | None:
    """Name and version of the installed package that adds a third party's algorithm.

    None for the project's own algorithms and those of implicit.
    """
    point = _added().get(key.partition(BAR)[0])
    return None if point is None or point.dist is None else (point.dist.name, point.dist.version)


def params_of(key: str, values: Mapping[str, Any] | None = None) -> Parameters:
    """Create the parameters of an algorithm from names and values.

    Values have their own type or are text; omitted parameters have their defaults. Raises ParameterError when the key
    or a name is unknown, or a value is not allowed; the message names the algorithm.

    Examples
    --------
    >>> params_of("puresvd", {"factors": "300"})
    PureSVD.Params(factors=300)
    """
    chosen = algorithm(key)
    try:
        return chosen.Params.from_mapping(values or {})
    except ParameterError as error:
        raise ParameterError(f"{chosen.name} ({key}): {error}") from error


def feasible_params(key: str, values: Mapping[str, Any], size: TrainingSize) -> Parameters:
    """As `params_of`, with every default lowered to the largest value that data of this size allow.

    The values given are never changed. Raises ParameterError or DataError as `params_of` does, and when an
    explicit value, or the algorithm itself, is impossible on these data.

    Examples
    --------
    >>> feasible_params("puresvd", {}, TrainingSize(n_users=90, n_items=18))
    PureSVD.Params(factors=18)
    """
    chosen, params = algorithm(key), params_of(key, values)
    lowered = {
        name: limit.largest
        for name, limit in chosen.limits(size).items()
        if name not in values and 1 <= limit.largest < getattr(params, name)
    }
    params = replace(params, **lowered)
    chosen.check(params, size)
    return params


def label(key: str, values: Mapping[str, Any] | None = None) -> str:
    """The name printed in tables; parameters and errors as for `params_of`.

    Examples
    --------
    >>> label("puresvd", {"factors": 300})
    'PureSVD300'
    """
    return algorithm(key).label(params_of(key, values))


def parse(text: str) -> tuple[str, Parameters]:
    """Parse an algorithm as written in a command: ``key`` or ``key:name=value,name=value``. Raises ParameterError for
    the text does not have that form, or the algorithm or a parameter does not exist.

    Examples
    --------
    >>> parse("puresvd:factors=50")
    ('puresvd', PureSVD.Params(factors=50))
    """
    key, values = named_values(text)
    return key, params_of(key, values)


def named_values(text: str) -> tuple[str, dict[str, str]]:
    """Split an algorithm as written in a command into its key and its parameters as text. Raises ParameterError when
    the text does not have the form ``key:name=value,name=value``, names a parameter twice, or has a re-ranker after
    ``|`` that does not exist or is not the only one.

    Examples
    --------
    >>> named_values("puresvd:factors=50|mmr:strength=0.3")
    ('puresvd|mmr', {'factors': '50', 'mmr_strength': '0.3'})
    """
    whole, *rerankers = text.split(BAR)
    key, values = _named_values(whole)
    if not rerankers:
        return key, values
    if len(rerankers) > 1:
        raise ParameterError(
            f"{text.strip()!r} names {len(rerankers)} re-rankers, and a list is re-ranked once. Write one, as in "
            "puresvd:factors=50|mmr:strength=0.3."
        )
    method, own = _named_values(rerankers[0])
    known = [info.name for info in reranked(algorithm(key), method).Params.described()]
    for name in own:
        if f"{method}_{name}" not in known:
            names = ", ".join(each.removeprefix(f"{method}_") for each in known if each.startswith(f"{method}_"))
            raise ParameterError(f"The re-ranker {method} has no parameter {name}; its parameters are: {names}.")
    return f"{key}{BAR}{method}", values | {f"{method}_{name}": value for name, value in own.items()}


def _named_values(text: str) -> tuple[str, dict[str, str]]:
    key, _, options = text.strip().partition(":")
    values: dict[str, str] = {}
    for option in options.split(",") if options else ():
        name, is_pair, value = (part.strip() for part in option.partition("="))
        if not is_pair or not name or not value:
            raise ParameterError(f"{option!r} in {text!r} is not of the form name=value.")
        if name in values:
            raise ParameterError(f"The parameter {name} comes twice in {text!r}.")
        values[name] = value
    return key.strip(), values


def specifications(text: str) -> tuple[str, ...]:
    """Split a list of algorithms at the commas between them.

    A piece whose beginning, up to a ``|``, holds ``=`` but no ``:`` belongs to the algorithm before it. Raises
    ParameterError when there is no algorithm in the text.

    Examples
    --------
    >>> specifications("toppop,corngr:neighbours=9,shrinkage=5|mmr:strength=0.3")
    ('toppop', 'corngr:neighbours=9,shrinkage=5|mmr:strength=0.3')
    """
    pieces: list[str] = []
    for piece in text.split(","):
        start = piece.partition(BAR)[0]
        if "=" in start and ":" not in start and pieces:
            pieces[-1] += f",{piece}" if ":" in pieces[-1].rpartition(BAR)[2] else f":{piece}"
        elif piece.strip():
            pieces.append(piece)
    if not pieces:
        raise ParameterError(f"Name at least one algorithm; the algorithms are: {', '.join(keys())}.")
    return tuple(pieces)


def _added() -> dict[str, EntryPoint]:
    """Third parties' entry points by key; none is imported."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name in (*_OWN, *_UPLOADED, *_IMPLICIT, *points):
            raise ParameterError(
                f"The entry point {point.value} uses the key {point.name!r}, which is taken; "
                "uninstall its package or ask its authors for another key."
            )
        points[point.name] = point
    return points

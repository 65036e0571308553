"""The only list of algorithms: by key, with their parameters, third parties' included.

A third party adds an algorithm by an entry point of the group ``parallax.algorithms``, whose name is the
key and whose object is a subclass of `recommenders.base.Algorithm`. It is imported when it is first asked
for. Adapters of other libraries' algorithms are listed where their library is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from core.errors import ParameterError
from recommenders.adapters.implicit_als import ImplicitALS
from recommenders.adapters.implicit_bpr import ImplicitBPR
from recommenders.adapters.implicit_cosine import ImplicitCosine
from recommenders.adapters.lenskit_als import LensKitALS, LensKitBiasedMF
from recommenders.adapters.lenskit_itemknn import LensKitItemKNN
from recommenders.adapters.library import Adapter
from recommenders.aspect import Aspect
from recommenders.aspect_content import AspectContent
from recommenders.association import ItemItem
from recommenders.asysvd import AsySVD
from recommenders.base import Algorithm
from recommenders.data_limits import TrainingSize
from recommenders.ease import EASE
from recommenders.expected_utility import ExpectedUtility
from recommenders.ials import IALS
from recommenders.item_neighbours import CorNgr, NNCosNgr
from recommenders.likes import PopularityLikes
from recommenders.logistic_pca import LPCA
from recommenders.lsa import LSA
from recommenders.naive_bayes import NaiveBayes
from recommenders.parameters import Parameters
from recommenders.popularity import TopPop
from recommenders.puresvd import PureSVD
from recommenders.random_order import Random
from recommenders.user_neighbours import UserKNNCosine, UserKNNPearson

__all__ = [
    "ENTRY_POINT_GROUP",
    "algorithm",
    "feasible_params",
    "install_command",
    "keys",
    "label",
    "named_values",
    "package_of",
    "params_of",
    "parse",
    "parse_many",
    "specifications",
]

ENTRY_POINT_GROUP = "parallax.algorithms"

_OWN: dict[str, type[Algorithm]] = {
    one.key: one
    for one in (
        *(TopPop, CorNgr, NNCosNgr, AsySVD, PureSVD, LSA),
        *(UserKNNPearson, UserKNNCosine, ItemItem, ExpectedUtility, PopularityLikes),
        *(LPCA, Aspect, AspectContent, NaiveBayes, Random, EASE, IALS),
    )
}
_ADAPTERS: dict[str, type[Adapter]] = {
    one.key: one for one in (ImplicitALS, ImplicitBPR, ImplicitCosine, LensKitALS, LensKitBiasedMF, LensKitItemKNN)
}


def keys() -> tuple[str, ...]:
    """Every key: the project's own in their usual order, those of the libraries installed, and third parties'
    in alphabetical order.

    Returns
    -------
    tuple of str
    """
    adapted = (key for key, found in _ADAPTERS.items() if found.library.is_installed)
    return (*_OWN, *adapted, *sorted(_added()))


def algorithm(key: str) -> type[Algorithm]:
    """The algorithm of a key.

    Parameters
    ----------
    key : str

    Returns
    -------
    type
        A subclass of `Algorithm`.

    Raises
    ------
    ParameterError
        If the key is unknown, its library is not installed (the message says how to install it), or a third
        party's entry point does not give an algorithm of that key.

    Examples
    --------
    >>> algorithm("toppop").name
    'TopPop'
    """
    if key in _OWN:
        return _OWN[key]
    if key in _ADAPTERS:
        adapter = _ADAPTERS[key]
        if not adapter.library.is_installed:
            raise adapter.refusal()
        return adapter
    added = _added()
    if key not in added:
        raise ParameterError(f"There is no algorithm {key!r}; the algorithms are: {', '.join(keys())}.")
    found = added[key].load()
    if not (isinstance(found, type) and issubclass(found, Algorithm) and found.key == key):
        raise ParameterError(
            f"The entry point {added[key].value} of {ENTRY_POINT_GROUP} is not an Algorithm with key {key!r}."
        )
    return found


def install_command(key: str) -> str | None:
    """The command that installs the library of an adapter, whether it is installed or not; None for other algorithms.

    Parameters
    ----------
    key : str
        The algorithm's.

    Returns
    -------
    str or None

    Examples
    --------
    >>> install_command("toppop") is None
    True
    """
    return _ADAPTERS[key].library.how_to_install() if key in _ADAPTERS else None


def package_of(key: str) -> tuple[str, str] | None:
    """The installed package that adds a third party's algorithm.

    Parameters
    ----------
    key : str
        The algorithm's.

    Returns
    -------
    tuple of str, or None
        Its name in the package index and its version; None for the project's own algorithms and adapters.
    """
    found = _added().get(key)
    return None if found is None or found.dist is None else (found.dist.name, found.dist.version)


def params_of(key: str, values: Mapping[str, Any] | None = None) -> Parameters:
    """The parameters of an algorithm from names and values, text included; what is left out has its default.

    Parameters
    ----------
    key : str
        The algorithm's.
    values : mapping of str to object, optional
        By the parameter's name.

    Returns
    -------
    params : Parameters
        Of the algorithm's own class.

    Raises
    ------
    ParameterError
        If the key or a name is unknown, or a value is not allowed; the message names the algorithm.

    Examples
    --------
    >>> params_of("puresvd", {"factors": "300"})
    PureSVD.Params(factors=300)
    """
    found = algorithm(key)
    try:
        return found.Params.from_mapping(values or {})
    except ParameterError as error:
        raise ParameterError(f"{found.name} ({key}): {error}") from error


def feasible_params(key: str, values: Mapping[str, Any], size: TrainingSize) -> Parameters:
    """The parameters of an algorithm on data of a size: a default above the largest possible value is lowered to it.

    Parameters
    ----------
    key : str
        The algorithm's.
    values : mapping of str to object
        The parameters that were given, text included. They are never changed.
    size : TrainingSize
        Of the training data.

    Returns
    -------
    params : Parameters
        Of the algorithm's own class. Where the defaults fit they are those of `params_of`.

    Raises
    ------
    ParameterError, DataError
        As `params_of`; or a given value, or the algorithm as such, is impossible on these data.

    Examples
    --------
    >>> feasible_params("puresvd", {}, TrainingSize(n_users=90, n_items=18))
    PureSVD.Params(factors=18)
    """
    found, params = algorithm(key), params_of(key, values)
    lowered = {
        name: limit.largest
        for name, limit in found.limits(size).items()
        if name not in values and 1 <= limit.largest < getattr(params, name)
    }
    params = replace(params, **lowered)
    found.check(params, size)
    return params


def label(key: str, values: Mapping[str, Any] | None = None) -> str:
    """The name printed in tables.

    Parameters
    ----------
    key : str
        The algorithm's.
    values : mapping of str to object, optional
        By the parameter's name.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        As `params_of`.

    Examples
    --------
    >>> label("puresvd", {"factors": 300})
    'PureSVD300'
    """
    return algorithm(key).label(params_of(key, values))


def parse(text: str) -> tuple[str, Parameters]:
    """One algorithm as written in a command: ``key`` or ``key:name=value,name=value``.

    Parameters
    ----------
    text : str

    Returns
    -------
    key : str
    params : Parameters

    Raises
    ------
    ParameterError
        If the text is not of that form, or names what does not exist.

    Examples
    --------
    >>> parse("puresvd:factors=50")
    ('puresvd', PureSVD.Params(factors=50))
    """
    key, values = named_values(text)
    return key, params_of(key, values)


def named_values(text: str) -> tuple[str, dict[str, str]]:
    """One algorithm as written in a command: its key and the parameters that are named, not yet read.

    Parameters
    ----------
    text : str

    Returns
    -------
    key : str
    values : dict of str to str

    Raises
    ------
    ParameterError
        If the text is not of the form ``key:name=value,name=value``, or names a parameter twice.

    Examples
    --------
    >>> named_values("puresvd:factors=50")
    ('puresvd', {'factors': '50'})
    """
    key, _, options = text.strip().partition(":")
    values: dict[str, str] = {}
    for option in options.split(",") if options else ():
        name, is_pair, value = (part.strip() for part in option.partition("="))
        if not is_pair or not name or not value:
            raise ParameterError(f"{option!r} in {text!r} is not of the form name=value.")
        if name in values:
            raise ParameterError(f"The parameter {name} comes twice in {text!r}.")
        values[name] = value
    return key, values


def specifications(text: str) -> tuple[str, ...]:
    """Split a list of algorithms at the commas between them.

    A piece that holds ``=`` but no ``:`` belongs to the algorithm before it.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of str
        Each as `parse` and `named_values` take it.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> specifications("toppop,corngr:neighbours=9,shrinkage=5")
    ('toppop', 'corngr:neighbours=9,shrinkage=5')
    """
    pieces: list[str] = []
    for piece in text.split(","):
        if "=" in piece and ":" not in piece and pieces:
            pieces[-1] += f",{piece}" if ":" in pieces[-1] else f":{piece}"
        elif piece.strip():
            pieces.append(piece)
    if not pieces:
        raise ParameterError(f"Name at least one algorithm; the algorithms are: {', '.join(keys())}.")
    return tuple(pieces)


def parse_many(text: str) -> tuple[tuple[str, Parameters], ...]:
    """Several algorithms as written in a command, separated by commas.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of (str, Parameters)
        In the order given.

    Raises
    ------
    ParameterError
        If there is none, one cannot be read, or the same algorithm comes twice with the same parameters.

    Examples
    --------
    >>> [key for key, _ in parse_many("toppop,puresvd:factors=50,puresvd:factors=300")]
    ['toppop', 'puresvd', 'puresvd']
    """
    parsed: list[tuple[str, Parameters]] = []
    for piece in specifications(text):
        one = parse(piece)
        if one in parsed:
            raise ParameterError(f"{algorithm(one[0]).label(one[1])} comes twice in {text!r}.")
        parsed.append(one)
    return tuple(parsed)


def _added() -> dict[str, EntryPoint]:
    """Third parties' entry points by key, none of them imported."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name in _OWN or point.name in _ADAPTERS or point.name in found:
            raise ParameterError(
                f"The entry point {point.value} wants the key {point.name!r}, which is taken; "
                "uninstall its package or ask its authors for another key."
            )
        found[point.name] = point
    return found

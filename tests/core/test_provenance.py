from __future__ import annotations

import numpy as np
import pytest

from core.provenance import canonical_json, derived_seed, digest_of, digest_of_arrays, rng_for, versions

pytestmark = pytest.mark.unit


def test_canonical_json_is_the_same_for_equal_values() -> None:
    assert canonical_json({"b": [1, 2.5], "a": "é"}) == '{"a":"é","b":[1,2.5]}'
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})


def test_canonical_json_refuses_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"value": float("nan")})


def test_digest_of_arrays_depends_on_name_type_shape_and_bytes() -> None:
    base = {"a": np.arange(6, dtype=np.int64)}
    others = [
        {"b": np.arange(6, dtype=np.int64)},
        {"a": np.arange(6, dtype=np.int32)},
        {"a": np.arange(6, dtype=np.int64).reshape(2, 3)},
        {"a": np.array([0, 1, 2, 3, 4, 6])},
        {"a": np.zeros(0)},
    ]
    digests = {digest_of_arrays(arrays) for arrays in [base, *others]}
    assert len(digests) == 6
    assert digest_of_arrays({"a": np.arange(12)[::2]}) == digest_of_arrays({"a": np.arange(12)[::2].copy()})


def test_derived_seeds_are_streams_of_their_own() -> None:
    assert derived_seed(1, "split") == derived_seed(1, "split")
    assert (
        len({derived_seed(1, "split"), derived_seed(2, "split"), derived_seed(1, "train"), derived_seed(1, "split", 0)})
        == 4
    )
    assert 0 <= derived_seed(-5, "x") < 2**63
    assert rng_for(3, "x").random() == rng_for(3, "x").random()


def test_versions_name_the_libraries_numbers_depend_on() -> None:
    found = versions()
    assert found["numpy"] == np.__version__
    assert {"parallax", "python", "scipy"} <= set(found)

"""The chapter on constructs: computed for scales of three questions, and stated as missing where data are too few."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from analysis.compute.perceived import constructs_of
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.present.scales import construct_section
from analysis.read.inputs import Answers, Person, ScaleAnswers
from analysis.results.codec import decode, encode
from analysis.results.perceived import Constructs
from analysis.results.schema import report_schema
from analysis.services import build_report
from documents.blocks import FigureMaker, Section
from inference.factor_analysis import FactorModel
from inference.invariance import InvarianceResult
from inference.results import Undefined
from inference.structural import StructuralModel
from studies.models import Study
from tests.factories.analysis import plant

CONDITIONS = ("LSA", "TopPop")


def answers_of(n: int, *, languages: int = 1, effect: float = 1.0, constant: bool = False) -> Answers:
    """Answers to two scales on five points; only quality responds to the condition and acts on satisfaction."""
    rng = np.random.default_rng(7)
    labels = [CONDITIONS[1 - index % 2] for index in range(n)]
    factors = rng.normal(size=(n, 2))
    factors[:, 0] += [effect * (label == "TopPop") for label in labels]
    steps = np.clip(np.round(3 + 0.9 * np.repeat(factors, 3, axis=1) + 0.7 * rng.normal(size=(n, 6))), 1, 5)
    if constant:
        steps[:, 0] = 4
    satisfaction = np.clip(np.round(3 + 0.8 * factors[:, 0] + 0.7 * rng.normal(size=n)), 1, 5)
    people = tuple(
        Person(5, 15, 1, 1, 0, 0, 0, 0, int(value), label) for label, value in zip(labels, satisfaction, strict=True)
    )
    scales = tuple(
        ScaleAnswers(
            name.lower(), name, 1, 5, tuple(f"{name.lower()}_{number}" for number in range(3)),
            tuple(
                (label, "3", tuple(str(int(value)) for value in row[3 * index : 3 * index + 3]))
                for label, row in zip(labels, steps, strict=True)
            ),
        )
        for index, name in enumerate(("Quality", "Effort"))
    )  # fmt: skip
    spoken = tuple(("en", "it")[index // 2 % languages] for index in range(n))
    return Answers(CONDITIONS, people, (), 0, 0, 0, scales=scales, languages=spoken)


def constructs(answers: Answers) -> Constructs:
    result = constructs_of(answers, np.random.default_rng(1), lambda _words: None)
    assert result is not None
    return result


def words_of(section: Section) -> str:
    return " ".join(block.text for block in section.blocks)


@pytest.mark.unit
def test_every_model_is_computed_from_enough_answers() -> None:
    result = constructs(answers_of(240, languages=2))
    assert isinstance(result.factors, FactorModel)
    assert result.factors.estimator == "WLSMV"
    assert isinstance(result.structural, StructuralModel)
    assert result.structural.reference == "LSA"
    assert [effect.ci_low > 0 for effect in result.structural.indirect] == [True, False]
    for scale in result.scales:
        assert isinstance(scale.across_conditions, InvarianceResult)
        assert isinstance(scale.across_languages, InvarianceResult)
        assert scale.across_conditions.groups == CONDITIONS
    assert decode(Constructs, json.loads(json.dumps(encode(Constructs, result)))) == result


@pytest.mark.unit
def test_short_scales_have_no_chapter_and_few_answers_have_reasons() -> None:
    answers = answers_of(20)
    short = [replace(scale, questions=scale.questions[:2]) for scale in answers.scales]
    assert constructs_of(replace(answers, scales=tuple(short)), np.random.default_rng(1), lambda _words: None) is None
    few = constructs(answers)
    assert isinstance(few.factors, Undefined)
    assert isinstance(few.structural, Undefined)
    assert few.scales[0].across_languages is None
    outcome = replace(answers, scales=(replace(answers.scales[0], key="satisfaction"),))
    missing = constructs(outcome).structural
    assert isinstance(missing, Undefined)
    assert "no scale" in missing.reason


@pytest.mark.unit
def test_languages_change_the_digest_only_where_there_are_several() -> None:
    single, several = answers_of(20), answers_of(20, languages=2)
    assert single.digest == replace(single, languages=()).digest
    assert single.digest != several.digest


@pytest.mark.integration
@pytest.mark.django_db
def test_the_chapter_states_what_the_models_show(study: Study) -> None:
    plant(study, {"TopPop": [3, 4, 5], "CorNgr": [2, 3, 4], "PureSVD4": [1, 2, 3]})
    report = build_report(study=study)
    plain = json.loads(report_json(report))
    assert "constructs" not in plain["results"]
    assert "constructs" not in [section.key for section in document_of(report).sections]
    results = replace(report.read_results(), constructs=constructs(answers_of(240)))
    section = construct_section(results, FigureMaker(""))
    words = words_of(section)
    assert "n = 240): χ²(8) = " in words
    assert "compared with LSA:" in words
    assert "not computed" not in words
    keys = [block.table.key for block in section.blocks if block.table]
    assert keys == [
        "construct-fit", "loadings", "convergent-validity", "discriminant-validity", "invariance", "paths",
        "indirect-effects",
    ]  # fmt: skip
    assert [figure.key for block in section.blocks for figure in block.figures] == ["path-diagram"]
    plain["results"]["constructs"] = encode(Constructs, results.constructs)
    assert list(Draft202012Validator(json.loads(report_schema())).iter_errors(plain)) == []
    few = construct_section(replace(results, constructs=constructs(answers_of(20))), FigureMaker(""))
    assert "13 free parameters" in words_of(few)
    weak: Any = constructs(answers_of(240, effect=0.0))
    without = construct_section(replace(results, constructs=weak), FigureMaker(""))
    assert "no evidence" in words_of(without)

"""A questionnaire as a YAML document: read with the line of every problem, and written so that it reads back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from studies.questionnaires.problems import Path, Problem, QuestionnaireProblems
from studies.questionnaires.schema import PARTS, questionnaire_from

SCHEMA = 1
LONGEST_DOCUMENT = 1_000_000  # characters


@dataclass(frozen=True)
class Located:
    """A problem with its line.

    Parameters
    ----------
    line : int
        From 1.
    problem : Problem
        What is wrong, and where in the document.
    """

    line: int
    problem: Problem

    def __str__(self) -> str:
        return f"line {self.line}, {self.problem}" if self.problem.path else f"line {self.line}: {self.problem}"


class DocumentProblems(QuestionnaireProblems):
    """Everything that is wrong with a document, by line.

    Parameters
    ----------
    located : sequence of Located
        At least one.
    """

    def __init__(self, located: list[Located]) -> None:
        super().__init__([one.problem for one in located])
        self.located = tuple(sorted(located, key=lambda one: one.line))

    def __str__(self) -> str:
        return "\n".join(map(str, self.located))


def read_document(text: str) -> dict[str, Any]:
    r"""The questionnaire that a YAML document holds, checked.

    Parameters
    ----------
    text : str
        The document: ``schema: 1`` and the parts of a questionnaire.

    Returns
    -------
    dict
        As `schema.questionnaire_from` reads it.

    Raises
    ------
    DocumentProblems
        With the line and the place of each problem.

    Examples
    --------
    >>> read_document("schema: 1\nafter:\n- {key: why, kind: text, text: {en: Why}}\n")["after"][0]["key"]
    'why'
    """
    if len(text) > LONGEST_DOCUMENT:
        raise DocumentProblems([_at(1, f"A questionnaire has at most {LONGEST_DOCUMENT:,} characters.")])
    root = _composed(text)
    lines: dict[Path, int] = {}
    doubled: list[Located] = []
    _walk(root, (), lines, doubled)
    if doubled:
        raise DocumentProblems(doubled)
    data = _constructed(text)
    version = data.pop("schema", None) if isinstance(data, dict) else None
    if not isinstance(data, dict):
        raise DocumentProblems([_at(1, f"A questionnaire has schema and {', '.join(PARTS)}; this has none of them.")])
    if version != SCHEMA or isinstance(version, bool):
        line = lines.get(("schema",), 1)
        said = "no schema" if version is None else f"the schema {version!r}"
        raise DocumentProblems([_at(line, f"This document has {said}. Begin it with schema: {SCHEMA}.")])
    try:
        questionnaire_from(data)
    except QuestionnaireProblems as found:
        raise DocumentProblems([Located(_line(one.path, lines), one) for one in found.problems]) from found
    return data


def write_document(questionnaire: Mapping[str, Any]) -> str:
    """The questionnaire as a YAML document; read back it is the same.

    Parameters
    ----------
    questionnaire : mapping
        As `schema.questionnaire_from` reads it.

    Returns
    -------
    str
    """
    parts = {name: questionnaire[name] for name in PARTS if name in questionnaire}
    whole = {"schema": SCHEMA, **parts}
    return yaml.dump(whole, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)


class _Dumper(yaml.SafeDumper):
    """Writes every word out, also where two places hold the same object."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _at(line: int, message: str) -> Located:
    return Located(line, Problem((), message))


def _broken(problem: yaml.YAMLError) -> DocumentProblems:
    mark = getattr(problem, "problem_mark", None)
    said = getattr(problem, "problem", None) or str(problem)
    return DocumentProblems([_at(mark.line + 1 if mark else 1, f"This is no YAML: {said}. Look at indents, colons "
                                 "and quotes near this line.")])  # fmt: skip


def _line_of(event: yaml.Event) -> int:
    return int(event.start_mark.line) if event.start_mark is not None else 0


def _composed(text: str) -> yaml.Node:
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise DocumentProblems(
                    [_at(_line_of(event) + 1, "References (*name) are not read here. Write the words out.")]
                )
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as problem:
        raise _broken(problem) from problem
    if root is None:
        raise DocumentProblems([_at(1, f"The document is empty. Begin it with schema: {SCHEMA}.")])
    return root


def _constructed(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as problem:
        if isinstance(problem, yaml.YAMLError):
            raise _broken(problem) from problem
        raise DocumentProblems([_at(1, f"A value cannot be read: {problem}.")]) from problem


def _walk(node: yaml.Node, path: Path, lines: dict[Path, int], doubled: list[Located]) -> None:
    """Note the line of every place, and names that stand twice in one mapping."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for number, part in enumerate(node.value):
            _walk(part, (*path, number), lines, doubled)
    elif isinstance(node, yaml.MappingNode):
        for name, part in node.value:
            inner = (*path, str(getattr(name, "value", "")))
            line = name.start_mark.line + 1
            if inner in lines:
                doubled.append(Located(line, Problem(inner, "This stands twice. Keep one of the two.")))
                continue
            lines[inner] = line
            _walk(part, inner, lines, doubled)


def _line(path: Path, lines: Mapping[Path, int]) -> int:
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)

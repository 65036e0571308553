"""Questionnaires as YAML documents: reading reports the line of every problem, and writing round-trips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from studies.instrument.questionnaires.problems import Path, Problem, QuestionnaireProblems
from studies.instrument.questionnaires.schema import NO_BLOCKS, PARTS, blocks_in, questionnaire_from

SCHEMA = 1
LONGEST_DOCUMENT = 500_000  # characters
MOST_PARTS = 20_000  # values, lists and mappings: more take too long to read
Lines = dict[Path, int]  # the line of every path
DEEPEST = 40  # lists and mappings inside one another


@dataclass(frozen=True)
class LocatedProblem:
    """A problem with its line."""

    line: int  # from 1
    problem: Problem  # the problem and its path in the document

    def __str__(self) -> str:
        return f"line {self.line}, {self.problem}" if self.problem.path else f"line {self.line}: {self.problem}"


class DocumentProblems(QuestionnaireProblems):
    """All problems of a document, sorted by line."""

    def __init__(self, located: list[LocatedProblem]) -> None:
        super().__init__([entry.problem for entry in located])
        self.located = tuple(sorted(located, key=lambda entry: entry.line))

    def __str__(self) -> str:
        return "\n".join(map(str, self.located))


def read_document(text: str, parse: Callable[[dict[str, Any]], Any] = questionnaire_from) -> dict[str, Any]:
    r"""Read and validate a questionnaire from a YAML document.

    The document has ``schema: 1`` and the parts of a questionnaire; the result is plain data, which `parse` accepts.
    Raises DocumentProblems with the line and path of each problem.

    Examples
    --------
    >>> read_document("schema: 1\nafter:\n- {key: why, kind: text, text: {en: Why}}\n")["after"][0]["key"]
    'why'
    """
    data, lines = read_yaml(text)
    version = data.pop("schema", None) if isinstance(data, dict) else None
    if not isinstance(data, dict):
        raise DocumentProblems(
            [_at(1, f"A questionnaire has schema and {', '.join(PARTS)}; this document has none of them.")]
        )
    if version != SCHEMA or isinstance(version, bool):
        line = lines.get(("schema",), 1)
        stated = "no schema" if version is None else f"the schema {version!r}"
        raise DocumentProblems([_at(line, f"This document has {stated}. Begin it with schema: {SCHEMA}.")])
    try:
        parse(data)
    except QuestionnaireProblems as error:
        raise located(error.problems, lines) from error
    return {name: part for name, part in data.items() if part is not None}  # as if an empty part were left out


def read_yaml(text: str) -> tuple[Any, Lines]:
    """Return the plain data of a YAML document, and the line of every path. Raises DocumentProblems."""
    if len(text) > LONGEST_DOCUMENT:
        raise DocumentProblems([_at(1, f"A questionnaire has at most {LONGEST_DOCUMENT:,} characters.")])
    loader = _Loader(text)
    root = _composed(loader)
    lines: Lines = {}
    doubled: list[LocatedProblem] = []
    _walk(root, (), lines, doubled)
    if doubled:
        raise DocumentProblems(doubled)
    try:
        return loader.construct_document(root), lines
    except yaml.YAMLError as problem:
        raise _broken(problem) from problem
    except ValueError as problem:  # such as a date with a 13th month
        raise DocumentProblems([_at(1, f"A value is invalid: {problem}.")]) from problem


def located(problems: Iterable[Problem], lines: Lines, below: Path = ()) -> DocumentProblems:
    """Return problems of a part of a document, which stands `below` a path, each with its line."""
    return DocumentProblems([LocatedProblem(_line((*below, *problem.path), lines), problem) for problem in problems])


def write_document(questionnaire: Mapping[str, Any]) -> str:
    """Return the questionnaire as a YAML document that `read_document` restores unchanged."""
    names = (*blocks_in(questionnaire), *NO_BLOCKS)
    parts = {name: questionnaire[name] for name in names if name in questionnaire}
    whole = {"schema": SCHEMA, **parts}
    return yaml.dump(whole, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110)


class _Loader(yaml.SafeLoader):
    """Reads a document without aliases, with which a few lines can expand to millions of values, and of bounded depth
    and size."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.n_parts = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        line = 1 if mark is None else mark.line + 1
        if self.check_event(yaml.AliasEvent):
            raise DocumentProblems([_at(line, "Aliases (*name) are not supported. Write the values out.")])
        if self.depth == DEEPEST:
            raise DocumentProblems([_at(line, f"Lists and mappings are nested at most {DEEPEST} levels deep.")])
        self.n_parts += 1
        if self.n_parts > MOST_PARTS:
            raise DocumentProblems([_at(line, f"A questionnaire has at most {MOST_PARTS:,} values.")])
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


class _Dumper(yaml.SafeDumper):
    """Writes shared objects out in full instead of as aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _at(line: int, message: str) -> LocatedProblem:
    return LocatedProblem(line, Problem((), message))


def _broken(problem: yaml.YAMLError) -> DocumentProblems:
    mark = getattr(problem, "problem_mark", None)
    detail = getattr(problem, "problem", None) or str(problem)
    line = mark.line + 1 if mark else 1
    message = f"This is not valid YAML: {detail}. Check the indentation, colons and quotes near this line."
    return DocumentProblems([_at(line, message)])


def _composed(loader: _Loader) -> yaml.Node:
    try:
        root = loader.get_single_node()
    except yaml.YAMLError as problem:
        raise _broken(problem) from problem
    if root is None:
        raise DocumentProblems([_at(1, f"The document is empty. Begin it with schema: {SCHEMA}.")])
    return root


def _walk(node: yaml.Node, path: Path, lines: Lines, doubled: list[LocatedProblem]) -> None:
    """Record the line of every path, and keys that occur twice in one mapping."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for number, part in enumerate(node.value):
            _walk(part, (*path, number), lines, doubled)
    elif isinstance(node, yaml.MappingNode):
        for name, part in node.value:
            inner = (*path, str(getattr(name, "value", "")))
            line = name.start_mark.line + 1
            if inner in lines:
                doubled.append(LocatedProblem(line, Problem(inner, "This key occurs twice. Remove one of them.")))
                continue
            lines[inner] = line
            _walk(part, inner, lines, doubled)


def _line(path: Path, lines: Lines) -> int:
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)

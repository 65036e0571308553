"""Reader of experiment files in YAML: shipped experiments by name, other files by path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from core.errors import ParameterError
from core.field_problems import FieldProblems, read_model
from evaluation.experiments.schema import Experiment

FOLDER = Path(__file__).parent
LARGEST_FILE = 1_000_000  # bytes


class _Loader(yaml.SafeLoader):
    """Loader that refuses duplicate keys in a mapping, where plain YAML would silently use the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for name in [name for name, _ in node.value if isinstance(name, yaml.ScalarNode)]:
            if name.value in names:
                raise yaml.constructor.ConstructorError(None, None, f"{name.value!r} appears twice", name.start_mark)
            names.add(name.value)
        return super().construct_mapping(node, deep)


def shipped() -> tuple[str, ...]:
    """Return the names of the shipped experiments in alphabetical order.

    Examples
    --------
    >>> "survey-rmse" in shipped()
    True
    """
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load(name: str) -> Experiment:
    """Read an experiment: a shipped one by its name, or a file by its path (anything that ends in .yaml or .yml).
    Raises ParameterError for a missing experiment or file, and says what is wrong in one, and where.
    """
    if name.endswith((".yaml", ".yml")):
        return read(Path(name))
    if name not in shipped():
        raise ParameterError(
            f"There is no experiment {name!r}; there are {', '.join(shipped())}. For one of your own give the path of "
            "its file, which ends in .yaml."
        )
    return read(FOLDER / f"{name}.yaml")


def read(file: Path) -> Experiment:
    """Read the file of an experiment. Raises ParameterError when it is not there, is not YAML, or says something that
    an experiment cannot be; the message names the place.
    """
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise ParameterError(f"{file.name} is larger than any experiment ({LARGEST_FILE:,} bytes at most).")
        text = file.read_text(encoding="utf-8")
    except OSError as problem:
        raise ParameterError(f"The file {file} cannot be read: {problem.strerror or problem}.") from problem
    except UnicodeDecodeError as problem:
        raise ParameterError(f"{file.name} is not UTF-8 text (byte {problem.start + 1}).") from problem
    return parse(text, file.name)


def parse(text: str, file: str) -> Experiment:
    """Read an experiment from the text of a file; the file's name without its ending is the experiment's key. Raises
    ParameterError as `read` does.
    """
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 — a safe loader that refuses repeated names  # nosec B506
    except yaml.YAMLError as problem:
        raise ParameterError(f"{file} is not YAML that can be read: {' '.join(str(problem).split())}.") from problem
    try:
        document = {**data, "key": file.rsplit(".", 1)[0]} if isinstance(data, dict) else data
        return read_model(Experiment, document)
    except FieldProblems as refusal:
        problems = (f"at {each.location}: {each.message}" if each.path else each.message for each in refusal.problems)
        raise ParameterError(f"{file}, {' '.join(problems)}") from refusal

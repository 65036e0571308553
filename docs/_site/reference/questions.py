"""Question kinds: the fields, the stored answer and an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import yaml

from reference.markdown import code, table
from studies.instrument.questionnaires.kinds import KINDS
from studies.instrument.questionnaires.reading import COMMON
from studies.instrument.questionnaires.schema import questionnaire_from

# One valid question of each kind, in the block `overall`.
EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "yes_no": 'key: again\nkind: yes_no\ntext: {en: "Would you use the site again?"}',
        "number": 'key: hours\nkind: number\ntext: {en: "How many hours did you read last week?"}\n'
        "minimum: 0\nmaximum: 168\nunit: {en: hours}",
        "choice": 'key: device\nkind: choice\ntext: {en: "Which device are you using?"}\n'
        "choices:\n- {value: phone, label: {en: Phone}}\n- {value: computer, label: {en: Computer}}\n"
        "other: {en: Another device}",
        "text": 'key: city\nkind: text\ntext: {en: "Where do you live?"}\nrequired: false\nmax_length: 80',
        "likert": "key: fair\nkind: likert\ntext: {en: The recommendations were fair.}\nminimum: 1\nmaximum: 5\n"
        "ends: {en: [strongly disagree, strongly agree]}",
        "multiple": 'key: sources\nkind: multiple\ntext: {en: "Where do you find recommendations?"}\n'
        "choices:\n- {value: friends, label: {en: Friends}}\n- {value: press, label: {en: Press}}\n"
        "- {value: none, label: {en: Nowhere}, exclusive: true}",
        "long_text": 'key: remarks\nkind: long_text\ntext: {en: "What else should we know?"}\nrequired: false',
        "slider": 'key: trust\nkind: slider\ntext: {en: "How much do you trust the recommendations?"}\n'
        "minimum: 0\nmaximum: 100\nstep: 5\nends: {en: [not at all, completely]}",
        "matrix": "key: qualities\nkind: matrix\ntext: {en: The list was …}\nminimum: 1\nmaximum: 5\n"
        "ends: {en: [strongly disagree, strongly agree]}\n"
        "rows:\n- {key: varied, text: {en: varied}}\n- {key: boring, text: {en: boring}, reversed: true}",
        "attention": "key: check\nkind: attention\ntext: {en: Please select 2 here.}\nminimum: 1\nmaximum: 5\n"
        "ends: {en: [lowest, highest]}\nexpects: 2",
        "preference": 'key: varied\nkind: preference\ntext: {en: "Which list has more varied films?"}',
    }
)


def entries() -> str:
    """Every kind; the fields of all questions first."""
    parts = [f"Fields of every kind: {', '.join(map(code, sorted(COMMON)))}."]
    for kind in KINDS:
        question = questionnaire_from({"overall": [yaml.safe_load(EXAMPLES[kind])]}).block("overall")[0]
        fields = ", ".join(map(code, sorted(question.fields))) or "none"
        has_parts = question.takes_several or bool(question.rows)
        either = "integer or category" if question.is_check else question.column_type
        stored = "several columns" if has_parts else either
        seconds = f"{question.seconds:g} s{' for each row' if question.rows else ''}"
        facts = table(("own fields", "type in exports", "assumed answering time"), [(fields, stored, seconds)])
        parts += [f"## {kind}", facts, f"```yaml\n{EXAMPLES[kind]}\n```"]
    return "\n\n".join(parts)

"""Which page of the documentation *Help* opens on each page of the console."""

from __future__ import annotations

from parallax.shell.documentation import INDEX

_ACCOUNTS = "how-to/manage-accounts-and-roles.md"
_DATA = "how-to/check-and-export-data.md"
_FORMATS = "reference/formats.md"
_METADATA = "how-to/add-item-metadata.md"
_PLAN = "how-to/plan-a-study.md"
_RECRUIT = "how-to/recruit-on-prolific-mturk-sona.md"
_RUNNING = "how-to/manage-a-running-study.md"
_RUNS = "how-to/evaluate-algorithms.md"

# By the beginning of a view's name, of which the longest holds.
TOPICS = {
    "home": "tutorials/first-study.md",
    "search": INDEX,
    "account": _ACCOUNTS,
    "accounts:tokens": "reference/api.md#access-tokens",
    "mfa_": f"{_ACCOUNTS}#second-factor",
    "api:": "reference/api.md",
    "catalog:": f"{_FORMATS}#import-in-the-console",
    "catalog:item": f"{_METADATA}#use-of-the-metadata",
    "catalog:metadata": _METADATA,
    "catalog:subset": "how-to/make-a-subset-of-a-dataset.md",
    "projects:": "how-to/share-datasets-in-projects.md",
    "evaluation:": f"{_RUNS}#read-the-results",
    "evaluation:new": f"{_RUNS}#start-a-run",
    "evaluation:compare": f"{_RUNS}#compare-two-runs",
    "evaluation:tests": f"{_RUNS}#compare-algorithms",
    "evaluation:groups": f"{_RUNS}#compare-groups-of-users",
    "evaluation:try": f"{_RUNS}#inspect-recommendations",
    "evaluation:models": f"{_RUNS}#inspect-recommendations",
    "evaluation:experiment": "how-to/run-an-experiment.md",
    "replication:": "how-to/replicate-the-paper.md#in-the-console",
    "studies:": _RUNNING,
    "studies:new": "tutorials/first-study.md",
    "studies:starting": "tutorials/first-study.md",
    "studies:notice": f"{_RUNNING}#receive-notices",
    "studies:dataset": _PLAN,
    "studies:conditions": f"{_PLAN}#choose-the-conditions",
    "studies:flow": f"{_PLAN}#known-items",
    "studies:question": "how-to/write-a-questionnaire.md",
    "studies:scale": "how-to/write-a-questionnaire.md",
    "studies:questionnaire-translations": "how-to/translate-participant-pages.md",
    "studies:texts": f"{_PLAN}#what-participants-read",
    "studies:sample": f"{_PLAN}#choose-the-number-of-participants",
    "studies:power": f"{_PLAN}#choose-the-number-of-participants",
    "studies:imbalance": f"{_PLAN}#choose-the-assignment-method",
    "studies:estimate": f"{_PLAN}#estimate-duration-and-cost",
    "studies:plan": "how-to/plan-the-analysis.md",
    "studies:preregistration": "how-to/preregister.md",
    "studies:launch": f"{_PLAN}#launch-the-study",
    "studies:preview": f"{_PLAN}#launch-the-study",
    "studies:simulat": "how-to/pilot-a-study.md",
    "studies:lists": f"{_RUNNING}#compare-the-recommendations-of-all-conditions",
    "studies:consent": f"{_RUNNING}#change-the-consent-text",
    "studies:versions": f"{_RUNNING}#extend-targets-correct-texts-or-change-the-contact",
    "studies:duplicate": f"{_RUNNING}#duplicate-archive-or-delete",
    "studies:delete": f"{_RUNNING}#duplicate-archive-or-delete",
    "studies:settings": f"{_ACCOUNTS}#roles",
    "studies:member": f"{_ACCOUNTS}#roles",
    "studies:take-over": f"{_ACCOUNTS}#ownership",
    "studies:export": f"{_DATA}#export-the-data",
    "studies:quality": f"{_DATA}#review-quality-flags",
    "studies:participants": f"{_DATA}#exclude-participants",
    "studies:withdraw": f"{_DATA}#withdraw-a-participant",
    "studies:recruiting": _RECRUIT,
    "studies:submissions": f"{_RECRUIT}#submissions-and-approvals",
    "studies:interviewers": f"{_RECRUIT}#interviewers",
    "studies:interview": "how-to/run-interviews.md",
    "studies:session": "how-to/run-interviews.md#a-session",
    "analysis:": "explanation/report-figures.md",
    "analysis:new": "how-to/plan-the-analysis.md#compare-the-report-with-the-plan",
    "analysis:file": "reference/report-files.md",
    "analysis:bayesian": "explanation/bayesian-analysis.md",
}


def topic_of(view_name: str) -> str:
    """The page of the documentation, with its heading, about the page of a view; the index for other views."""
    return TOPICS[max((name for name in TOPICS if view_name.startswith(name)), key=len, default="search")]

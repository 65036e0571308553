"""Every address of datasets, runs and projects: who in a project may see it, and who else."""

from __future__ import annotations

VIEWERS = {"viewer": 200, "member": 200, "owner": 200}
WRITERS = {"viewer": 403, "member": 200, "owner": 200}
OWNERS = {"viewer": 403, "member": 403, "owner": 200}
NOT_READ = {"viewer": 405, "member": 405, "owner": 405}  # buttons: what they do is in PRESSED
ASKER = {"viewer": 404, "member": 404, "owner": 200}  # a job of the catalogue is its requester's

# What those in the project are answered by each address that is about a dataset, a run or the project. To everyone
# else, administrators included, none of it is there.
OF_DATA: dict[str, dict[str, int]] = {
    "catalog:recipe": ASKER,
    "catalog:step": ASKER,
    "catalog:job": ASKER,
    "catalog:job-cancel": NOT_READ,
    "catalog:job-retry": NOT_READ,
    "catalog:poster": VIEWERS,
    "catalog:clip": VIEWERS,
    "catalog:newest": VIEWERS,
    "catalog:version": VIEWERS,
    "catalog:retire": NOT_READ,
    "catalog:item-type": NOT_READ,
    "catalog:item-language": NOT_READ,
    "catalog:metadata": WRITERS,
    "catalog:subset": WRITERS,
    "catalog:subset-count": WRITERS,
    "catalog:items": VIEWERS,
    "catalog:item": VIEWERS,
    "evaluation:try": VIEWERS,
    "evaluation:upload": WRITERS,
    "evaluation:uploaded": ASKER,
    "evaluation:cancel-upload": NOT_READ,
    "evaluation:lists": WRITERS,
    "evaluation:detail": VIEWERS,
    "evaluation:experiment-job": VIEWERS,
    "evaluation:experiment-file": VIEWERS,
    "evaluation:tests": VIEWERS,
    "evaluation:groups": VIEWERS,
    "evaluation:resume": NOT_READ,
    "evaluation:metrics_csv": VIEWERS,
    "evaluation:users_csv": VIEWERS,
    "evaluation:groups_csv": VIEWERS,
    "evaluation:scores": VIEWERS,
    "evaluation:figure": VIEWERS,
    "evaluation:progress": VIEWERS,
    "evaluation:cancel": NOT_READ,
    "evaluation:json": VIEWERS,
    "projects:detail": VIEWERS,
    "projects:rename": NOT_READ,
    "projects:member-set": NOT_READ,
    "projects:member-remove": NOT_READ,
    "projects:move": OWNERS,
}
# The buttons, pressed with nothing filled in.
PRESSED: dict[str, dict[str, int]] = {
    "catalog:retire": {"viewer": 403, "member": 302, "owner": 302},
    "catalog:item-type": {"viewer": 403, "member": 302, "owner": 302},
    "catalog:item-language": {"viewer": 403, "member": 302, "owner": 302},
    "evaluation:cancel": {"viewer": 403, "member": 302, "owner": 302},
    "evaluation:cancel-upload": {"viewer": 404, "member": 404, "owner": 302},
    "evaluation:resume": {"viewer": 403, "member": 302, "owner": 302},
    "projects:rename": {"viewer": 403, "member": 403, "owner": 302},
    "projects:member-set": {"viewer": 403, "member": 403, "owner": 400},
    "projects:member-remove": {"viewer": 403, "member": 403, "owner": 302},
    "catalog:job-cancel": {"viewer": 404, "member": 404, "owner": 302},
    "catalog:job-retry": {"viewer": 404, "member": 404, "owner": 302},
}
# Open to every researcher: they list and offer what the researcher sees.
OPEN_LISTS = {
    "catalog:list", "catalog:import", "catalog:download", "evaluation:list", "evaluation:new", "evaluation:count",
    "evaluation:models", "evaluation:compare", "evaluation:experiments", "evaluation:experiment", "projects:list",
}  # fmt: skip

"""The largest request body of each address, where files are expected, and the time that a client has to send it."""

from __future__ import annotations

import re

from catalog.forms.upload_limits import MOST_DATASET, MOST_MEDIA, MOST_MODEL, MOST_UPLOADED
from studies.participation.services.events import LARGEST_BODY
from studies.recruitment.panels.submissions import LARGEST

KIB, MIB = 2**10, 2**20
FRAME = MIB // 2  # of a multipart form around its files
ANYONE = 256 * KIB  # without an account: what is larger is read only from users who are signed in
# The first pattern that an address begins with decides.
LIMITS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), limit)
    for pattern, limit in (
        (r"/s/p/[^/]+/events/", LARGEST_BODY),
        (r"/s/p/[^/]+/(rate|withdraw|exit)/", 64 * KIB),
        (r"/s/p/[^/]+/[^/]+/", ANYONE),  # forms of questions, with long texts
        (r"/s/", 64 * KIB),
        (r"/account/", 64 * KIB),
        (r"/catalog/import/|/studies/new/$", MOST_DATASET + MOST_UPLOADED + FRAME),
        (r"/api/v1/uploads/[0-9]+/$", MOST_DATASET),
        (r"/(catalog|api/v1/datasets)/.*/metadata/", MOST_UPLOADED + MOST_MEDIA + FRAME),
        (r"/runs/(models/upload|[0-9]+/scores)/|/api/v1/(models|runs/[0-9]+/scores)/$", MOST_MODEL + FRAME),
        (r"/studies/[^/]+/conditions/explanations/", MOST_UPLOADED + FRAME),
        (r"/studies/[^/]+/(recruiting/|submissions/|questionnaire/import/)", LARGEST + FRAME),
        (r"/(studies|catalog|runs|reports|api|admin)/", 5 * MIB // 2),
        (r"", 64 * KIB),
    )
)
# The pages with a form for files; nowhere else is a body in parts read.
TAKES_FILES = re.compile(
    r"/catalog/(import/|.*/metadata/)|/api/v1/datasets/.*/metadata/$|/studies/new/$|/runs/(models/upload|[0-9]+/scores)/|/api/v1/(models|runs/[0-9]+/scores)/$"
    r"|/studies/[^/]+/(recruiting/(links|signed-links|guests)/|submissions/|questionnaire/import/|conditions/explanations/)"
)
IN_PARTS = "multipart/"
GRACE_SECONDS = 15.0
SLOWEST = 16 * KIB  # bytes per second


def largest_body(path: str) -> int:
    """Return the largest body, in bytes, that is read for a path."""
    # The last pattern is empty and matches every path, so there is always a limit.
    return next(limit for pattern, limit in LIMITS if pattern.match(path))


def is_read(path: str, content_type: str) -> bool:
    """Whether a body of this type is read at this path: one in parts, which may hold files, only where files are
    expected.
    """
    return not content_type.strip().lower().startswith(IN_PARTS) or TAKES_FILES.match(path) is not None


def seconds_for_body(declared: int) -> float:
    """Return the time in which a body of that many bytes has to arrive: a fixed time, and more for a large one."""
    # In proportion to the size: a fixed time would refuse large files over slow lines, or admit slow floods of small
    # ones.
    return GRACE_SECONDS + declared / SLOWEST

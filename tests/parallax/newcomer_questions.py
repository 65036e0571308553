"""Questions of newcomers, as they type them, with the page that answers each and words of its answer.

Both searches of the documentation have to find such a page first: the one under `/help/` and that of the built site.
"""

from __future__ import annotations

FAQ = "faq.md"
# What is typed; the pages that answer it; words of the answer, in a section of these pages.
QUESTIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("How do I import my CSV?", (FAQ, "reference/formats.md"), "A row is a user, an item and a rating"),
    ("how many participants do I need", (FAQ, "how-to/choose-a-design.md"), "seven recommenders take 133 participants"),
    ("Can I use Prolific?", (FAQ, "how-to/recruit-on-prolific-mturk-sona.md"), "Prolific"),
    ("bring my PyTorch model", (FAQ, "how-to/upload-a-model.md"), "upload item weights, factors or ranked lists"),
    ("Where are the data stored?", (FAQ, "explanation/privacy.md"), "On your machine alone"),
    ("How do I cite it in my paper?", (FAQ,), "CITATION.cff"),
    ("delete a participant's data", (FAQ, "how-to/check-and-export-data.md"), "withdraw_participant"),
    ("What is second-order novelty?", ("reference/glossary.md",), "novel"),
    ("export to R", (FAQ, "how-to/analyse-in-r.md", "how-to/check-and-export-data.md"), "export_study"),
    ("how long does the demo take", (FAQ, "tutorials/first-study.md"), "two to four minutes"),
    ("Which Python versions?", (FAQ,), "Python 3.11 to 3.14"),
    ("port 8000 already in use", (FAQ, "troubleshooting.md"), "PORT=8765"),
    ("Can I use implicit feedback such as clicks?", (FAQ, "how-to/plan-a-study.md"), "--usage"),
    ("compare two lists side by side", (FAQ, "how-to/arrange-the-pages.md", "how-to/choose-a-design.md"), "two lists"),
    ("Do simulated participants replace people?", (FAQ, "explanation/simulation.md"), "no evidence about people"),
    ("How do I preregister?", (FAQ, "how-to/preregister.md"), "AsPredicted"),
    ("GDPR", (FAQ, "explanation/privacy.md"), "articles of the GDPR"),
    ("ethics board IRB information sheet", (FAQ, "explanation/privacy.md"), "information sheet"),
    ("forgot password", (FAQ, "how-to/manage-accounts-and-roles.md"), "changepassword"),
    ("How do I deploy it on a server with HTTPS?", (FAQ, "how-to/deploy-with-postgresql-and-redis.md"), "certificate"),
    ("run it with Docker", (FAQ, "how-to/try-the-image.md"), "docker run"),
    ("Can participants use their phone?", (FAQ, "explanation/for-participants.md"), "fit a phone"),
    ("difference from oTree and EasyStudy", (FAQ, "explanation/other-tools.md"), "EasyStudy"),
    ("sample size power analysis", (FAQ, "how-to/plan-a-study.md"), "Power"),
    ("translate the study into German", (FAQ, "how-to/translate-participant-pages.md"), "German"),
    ("site did not answer simulated participant", (FAQ, "troubleshooting.md"), "with make up"),
)

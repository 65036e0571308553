from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from studies.management.study_command import StudyCommand
from studies.participation.services.withdrawal import participant_known_as, personal_data_of, withdraw_on_behalf


class Command(StudyCommand):
    help = (
        "Withdraw one participant who asked for it, by their code or external id, and erase their data. It has the "
        "same effect as the participant's own withdrawal, and is logged with the reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("participant", help="the participant's code, or an external id such as the Prolific ID")
        parser.add_argument("--reason", required=True, help="for the activity log; do not include names")
        parser.add_argument("--yes", action="store_true", help="erase; otherwise only list the data")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["slug"])
        participant = participant_known_as(study=study, known_as=options["participant"])
        data = personal_data_of(participant)
        summary = (
            f"participant {participant.code} ({participant.get_status_display().lower()}): {data['answers']} answers, "
            f"{data['ratings']} ratings, {data['events']} events, {data['external_ids']} external ids"
        )
        if not options["yes"]:
            self.stdout.write(f"This would erase {summary}. Repeat the command with --yes to do it.")
            return
        withdraw_on_behalf(participant=participant, reason=options["reason"])
        self.stdout.write(f"Withdrawn and erased: {summary}.")

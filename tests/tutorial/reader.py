"""Someone who reads a tutorial at the browser: finds links, buttons and fields by the names that it emphasises."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.tutorial.steps import Act

PATIENCE = 1_000 * 240  # milliseconds; a link may appear when a run or an import has ended


class Reader:
    """Does each act on the page. `values` are entered into fields by their names; `file` is what is chosen."""

    def __init__(self, page: Page, values: dict[str, str], file: Path) -> None:
        self.page, self.values, self.file = page, values, file
        self.began = time.monotonic()
        self.acts: list[dict[str, float | str]] = []

    def do(self, act: Act) -> None:
        """Do what an act asks for, and note it unless it is only to look."""
        if act.verb != "see":
            self.acts.append({"second": round(time.monotonic() - self.began, 1), "act": f"{act.verb} “{act.name}”"})
        match act.verb:
            case "follow" | "open":
                # A stage says its state behind its name, for those who hear it.
                name = re.compile(rf"^{re.escape(act.name)}( ?, .*)?$")
                self._visible(self.page.get_by_role("link", name=name)).click(timeout=PATIENCE)
            case "press":
                self._press(act.name)
            case "enter":
                self._field(act.name).fill(self.values[act.name])
            case "set":
                self._field(act.name).select_option(label=act.value)
            case "choose the file as":
                self._field(act.name).set_input_files(self.file)
            case "go back":
                self.page.go_back()
            case "see":
                expect(self._visible(self.page.get_by_text(act.name, exact=True))).to_be_visible(timeout=PATIENCE)
            case _:
                raise AssertionError(f"no reader knows how to {act.verb} “{act.name}”")

    def _press(self, name: str) -> None:
        button = self.page.get_by_role("button", name=name, exact=True)
        self._visible(button).click(timeout=PATIENCE)
        if name.startswith("Remove "):
            expect(button).to_have_count(0)

    def _field(self, name: str) -> Locator:
        return self.page.get_by_label(name, exact=True).first

    @staticmethod
    def _visible(locator: Locator) -> Locator:
        return locator.filter(visible=True).first

"""Tutorials are read as steps: blocks, emphasised names, and the words before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tutorial.steps import Act, Change, Commands, File, Output, Stop, steps
from tests.tutorial.terminal import ROOT

PAGE = """# A tutorial

On *Home*, follow *Import*, choose the file as *Dataset*, and press *Continue*. If it **fails**, set *Rows* to *All*.
Enter a *Title* and the end of its *Link*.

1. Write `setup.cfg`:

   ```ini
   [a]
   b = 1
   ```

It fails:

```
first --long \\
    line
second
```

```text
an error
```

Change `setup.cfg`:

```diff
 [a]
-b = 1
+b = 2
```

Press *Open* and *Close*, then use the back button. The state is *Live*. Stop the site with Ctrl-C.
"""
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def test_steps_of_a_page_are_read_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    assert steps(tmp_path / "page.md") == [
        Act("see", "Home"), Act("follow", "Import"), Act("choose the file as", "Dataset"), Act("press", "Continue"),
        Act("set", "Rows", "All"), Act("enter", "Title"), Act("enter", "Link"),
        File("setup.cfg", "[a]\nb = 1\n"),
        Commands(("first --long      line", "second"), fails=True), Output(("an error",)),
        Change("setup.cfg", "[a]\nb = 1\n", "[a]\nb = 2\n"),
        Act("press", "Open"), Act("press", "Close"), Act("go back", ""), Act("see", "Live"), Stop(),
    ]  # fmt: skip


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_tutorial_is_followed_by_a_test(page: Path) -> None:
    test = Path(__file__).parent / f"test_{page.stem.replace('-', '_')}.py"
    assert f'"{page.name}"' in test.read_text()
    assert any(isinstance(step, Commands) for step in steps(page))

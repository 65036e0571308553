#!/usr/bin/env python3
"""The command line of Parallax: .venv/bin/python manage.py COMMAND."""

import sys

try:
    from parallax.command_line import main
except ModuleNotFoundError as missing:
    if str(missing.name).startswith("parallax"):
        raise
    sys.exit(
        f"The Python package {missing.name} is not installed for {sys.executable}. Run `make install`, then use "
        "`.venv/bin/python manage.py COMMAND`."
    )

if __name__ == "__main__":
    main(sys.argv)

"""Print the tables of the installation's database with their columns, keys, checks and indexes, as JSON."""

from __future__ import annotations

import json
import os
import re

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
django.setup()

from django.db import connection  # noqa: E402


def main() -> None:
    with connection.cursor() as cursor:
        tables = {
            table: {
                "columns": sorted(
                    (column.name, str(column.type_code), column.null_ok, str(column.default))
                    for column in connection.introspection.get_table_description(cursor, table)
                ),
                # SQLite numbers what has no name, in the order of the columns.
                "constraints": sorted(
                    json.dumps(
                        [re.sub(r"^(__unnamed_constraint|fk)_\d.*", "", name), facts], sort_keys=True, default=str
                    )
                    for name, facts in connection.introspection.get_constraints(cursor, table).items()
                ),
            }
            for table in connection.introspection.table_names(cursor)
            if not table.startswith("sqlite_")
        }
    print(json.dumps(tables))  # noqa: T201


if __name__ == "__main__":
    main()

"""Answers that were kept in clear are forgotten: from now on they are encrypted."""

from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    apps.get_model("core", "KeptAnswer").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("core", "0004_kept_answers")]
    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]

from typing import Any

from django.db import migrations


def forget_sign_ins(apps: Any, schema_editor: Any) -> None:
    """Addresses of sign-ins; 0007 has made digests of those that are needed."""
    apps.get_model("axes", "AccessLog").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_letters"), ("axes", "0005_remove_accessattempt_trusted")]
    operations = [migrations.RunPython(forget_sign_ins, migrations.RunPython.noop, elidable=True)]

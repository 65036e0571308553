from datetime import timedelta
from typing import Any

from django.db import migrations, models
from django.utils import timezone


def let_endless_tokens_expire(apps: Any, schema_editor: Any) -> None:
    """Every token expires: one without a date is valid for another year."""
    tokens = apps.get_model("accounts", "Token").objects.filter(expires_at=None)
    tokens.update(expires_at=timezone.now() + timedelta(days=365))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_invitations")]
    operations = [
        migrations.AddField(
            model_name="user",
            name="n_session_ends",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.RunPython(let_endless_tokens_expire, migrations.RunPython.noop, elidable=True),
    ]

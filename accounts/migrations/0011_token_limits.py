import django.db.models.deletion
from django.db import migrations, models


def combine_scopes(apps, schema_editor):
    """What a token of earlier versions allowed, in scopes that can be combined: all of them read participants' data."""
    tokens = apps.get_model("accounts", "Token").objects
    tokens.filter(scope="read").update(scope="read data")
    for narrow in ("report", "withdraw", "upload"):
        tokens.filter(scope=narrow).update(scope=f"read data {narrow}")


class Migration(migrations.Migration):
    dependencies = [
        ("contenttypes", "0002_remove_content_type_name"),
        ("accounts", "0010_token_scope_upload"),
    ]

    operations = [
        migrations.AlterField(
            model_name="token",
            name="scope",
            field=models.CharField(default="read data", max_length=60),
        ),
        migrations.AddField(
            model_name="token",
            name="only_type",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="contenttypes.contenttype",
            ),
        ),
        migrations.AddField(
            model_name="token",
            name="only_id",
            field=models.PositiveBigIntegerField(blank=True, null=True),
        ),
        migrations.RunPython(combine_scopes, migrations.RunPython.noop),
    ]

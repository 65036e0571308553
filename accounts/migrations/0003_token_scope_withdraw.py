from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_tokens"),
    ]

    operations = [
        migrations.AlterField(
            model_name="token",
            name="scope",
            field=models.CharField(
                choices=[
                    ("read", "Read"),
                    ("report", "Read, and build reports"),
                    ("withdraw", "Read, and withdraw participants"),
                ],
                default="read",
                max_length=12,
            ),
        ),
    ]

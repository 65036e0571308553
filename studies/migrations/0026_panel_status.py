"""The status of a submission in the panel's own words is called so in the code; its column keeps its name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0025_one_table_of_jobs")]

    operations = [
        migrations.AlterField("submission", "told", models.CharField(blank=True, db_column="told", max_length=500)),
        migrations.RenameField("submission", "told", "panel_status"),
    ]

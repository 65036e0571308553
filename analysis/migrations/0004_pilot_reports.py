from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0003_leases_and_drawings")]

    operations = [
        migrations.AddField(model_name="report", name="is_pilot", field=models.BooleanField(default=False)),
    ]

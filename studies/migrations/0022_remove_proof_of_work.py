from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0021_notice_of_administration"),
    ]

    operations = [
        migrations.RemoveField(model_name="recruiting", name="proof_of_work"),
        migrations.RemoveField(model_name="recruiting", name="without_script"),
    ]

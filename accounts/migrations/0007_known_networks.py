from datetime import timedelta
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.networks import network_of

KNOWN_DAYS, MOST_KNOWN = 90, 20


def know_networks_of_earlier_sign_ins(apps: Any, schema_editor: Any) -> None:
    """Owners keep their usual networks: django-axes has kept the sign-ins until now."""
    since = timezone.now() - timedelta(days=KNOWN_DAYS)
    known = apps.get_model("accounts", "KnownNetwork").objects
    sign_ins = apps.get_model("axes", "AccessLog").objects.exclude(ip_address=None).filter(attempt_time__gt=since)
    for user in apps.get_model("accounts", "User").objects.all():
        last: dict[str, Any] = {}
        for address, moment in sign_ins.filter(username=user.email).values_list("ip_address", "attempt_time"):
            network = network_of(address)
            last[network] = max(moment, last.get(network, moment))
        for network in sorted(last, key=lambda name: last[name], reverse=True)[:MOST_KNOWN]:
            digest = salted_hmac("accounts.known-network", f"{user.pk}\n{network}", algorithm="sha256").hexdigest()
            known.create(user=user, digest=digest, used_at=last[network])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_projects"), ("axes", "0005_remove_accessattempt_trusted")]
    operations = [
        migrations.CreateModel(
            name="KnownNetwork",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("used_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="known_networks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [models.UniqueConstraint(fields=("user", "digest"), name="known_network_once")],
            },
        ),
        migrations.RunPython(know_networks_of_earlier_sign_ins, migrations.RunPython.noop, elidable=True),
    ]

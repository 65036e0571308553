"""Notices to the owners of a study, and their delivery."""

from __future__ import annotations

from django.db import models

from studies.enums import NoticeKind
from studies.models.study import RESEARCHER, Study


class Notice(models.Model):
    """An event in a study that its owners are notified of; `key` identifies the event and prevents duplicates."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=20, choices=NoticeKind)
    key = models.CharField(max_length=200)
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="notice_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.text}"


class NoticeReceipt(models.Model):
    """A notice in one researcher's list, with the times it was read and e-mailed."""

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="receipts")
    researcher = models.ForeignKey(RESEARCHER, on_delete=models.CASCADE, related_name="+")
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-notice_id"]
        constraints = [models.UniqueConstraint(fields=["notice", "researcher"], name="notice_receipt_once")]
        indexes = [
            models.Index(fields=["researcher", "read_at"]),
            models.Index(fields=["mailed_at"], condition=models.Q(mailed_at__isnull=True), name="receipt_not_mailed"),
        ]

    def __str__(self) -> str:
        return f"{self.notice} to {self.researcher}"

"""What participants gave and got: answers, ratings, recommendations, events."""

from __future__ import annotations

from django.db import models

from catalog.models import Item
from studies.enums import Provenance
from studies.models.participant import Participant


class Response(models.Model):
    """One answer, stored the moment it is given; a changed answer replaces it.

    `rank` is 0 for questions about the person or the whole list, else the rank of the recommended item.
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="responses")
    question = models.CharField(max_length=60)
    rank = models.PositiveSmallIntegerField(default=0)
    value = models.JSONField()
    provenance = models.CharField(max_length=12, choices=Provenance, default=Provenance.PERSON)
    n_changes = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["participant_id", "rank", "question"]
        constraints = [models.UniqueConstraint(fields=["participant", "question", "rank"], name="response_once")]

    def __str__(self) -> str:
        return f"{self.question} of {self.participant}"


class ProfileRating(models.Model):
    """A rating the participant gave to an item they know, on the study's 1..5."""

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="profile")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    rating = models.PositiveSmallIntegerField()
    provenance = models.CharField(max_length=12, choices=Provenance, default=Provenance.PERSON)
    n_changes = models.PositiveIntegerField(default=0)
    rated_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["participant_id", "rated_at", "id"]
        constraints = [models.UniqueConstraint(fields=["participant", "item"], name="profile_rating_once")]

    def __str__(self) -> str:
        return f"{self.item}: {self.rating}"


class RecommendationList(models.Model):
    """The list a participant got: computed once, stored, never computed again for them."""

    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="recommendation_list")
    model_digest = models.CharField(max_length=64)
    seconds = models.FloatField()
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"List of {self.participant}"


class RecommendedItem(models.Model):
    """One slot of the list. `is_filled` marks what popularity filled because the algorithm had no score.

    `has_trailer` is what the item had when the list was made, None where that is not known: without one it is asked
    about by its details.
    """

    recommendation_list = models.ForeignKey(RecommendationList, on_delete=models.CASCADE, related_name="slots")
    rank = models.PositiveSmallIntegerField()
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    score = models.FloatField(null=True)  # None where popularity filled the slot
    is_filled = models.BooleanField(default=False)
    has_trailer = models.BooleanField(null=True)

    class Meta:
        ordering = ["recommendation_list_id", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["recommendation_list", "rank"], name="slot_rank_once"),
            models.UniqueConstraint(fields=["recommendation_list", "item"], name="slot_item_once"),
        ]

    def __str__(self) -> str:
        return f"{self.rank}. {self.item}"


class Event(models.Model):
    """Something that happened on a page: a view, a search, details or a trailer opened.

    What the server notes by itself has no `key`. What a browser tells has one that the browser made: told twice, it
    is stored once. `at` is the server's clock, `client_at` the browser's.
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=36, blank=True)
    page = models.CharField(max_length=20, blank=True)  # a step of studies.flow
    rank = models.PositiveSmallIntegerField(default=0)  # of the item in question, in the step "items"
    seconds = models.FloatField(null=True, blank=True)  # the page was in sight, where a browser tells
    hidden_seconds = models.FloatField(null=True, blank=True)  # it was open and out of sight before that
    facts = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)
    client_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["participant", "kind"])]
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "key"], condition=~models.Q(key=""), name="event_of_browser_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.participant}"

"""Answers, ratings, recommendations and events of participants."""

from __future__ import annotations

import uuid

from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from django.utils import timezone

from catalog.models import Item
from jobs.models import Job
from studies.enums import Provenance
from studies.models.participant import Participant
from studies.models.study import Condition


class Response(models.Model):
    """One answer, saved as soon as it is submitted; a changed answer replaces it.

    `rank` is the rank of the recommended item, or 0 for questions about the participant or the whole list. `occasion`
    is that of the list in question, and 1 for questions about the participant.
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="responses")
    question = models.CharField(max_length=60)
    rank = models.PositiveSmallIntegerField(default=0)
    occasion = models.PositiveSmallIntegerField(default=1)
    value = models.JSONField()
    provenance = models.CharField(max_length=12, choices=Provenance, default=Provenance.PERSON)
    n_changes = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["participant_id", "rank", "question"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "question", "rank", "occasion"], name="response_once")
        ]

    def __str__(self) -> str:
        return f"{self.question} of {self.participant}"


class ProfileRating(models.Model):
    """A participant's rating of a known item, as the number of a point on the study's elicitation scale.

    Points are numbered from 1; `studies.known_items` has their values. A chosen item of usage data has 1.
    """

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


class ListRequest(models.Model):
    """The request for a participant's list, in a study with a remote recommender; from it on, their ratings are final.

    A worker asks the service, and `answer` is the list that it gave: items by index, scores, explanations by
    language, and the service's `facts`. Participants of the other conditions have a request too, so that all wait
    alike; theirs has no job.
    """

    participant = models.OneToOneField(Participant, on_delete=models.CASCADE, related_name="list_request")
    key = models.UUIDField(default=uuid.uuid4)  # the same in every attempt
    requested_at = models.DateTimeField(default=timezone.now)
    shown_at = models.DateTimeField(null=True)  # when the list was stored, and the page moved on
    attempts = models.PositiveIntegerField(default=0)  # how often the service was asked
    seconds = models.FloatField(null=True)  # that the answer took
    version = models.CharField(max_length=100, blank=True)  # of the service that answered
    answer = models.JSONField(null=True)
    error = models.TextField(blank=True)  # of the last attempt
    jobs = GenericRelation(Job, content_type_field="subject_type", object_id_field="subject_id")

    class Meta:
        ordering = ["participant_id"]

    def __str__(self) -> str:
        return f"Request for the list of {self.participant}"

    @property
    def waited_seconds(self) -> float | None:
        """From leaving the rating page to the list; None before there is one."""
        return None if self.shown_at is None else (self.shown_at - self.requested_at).total_seconds()


class RecommendationList(models.Model):
    """A participant's recommendations on one occasion, computed once and never again."""

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="recommendation_lists")
    occasion = models.PositiveSmallIntegerField(default=1)
    side = models.PositiveSmallIntegerField(default=1)  # 1 is the leftmost of lists that are shown at once
    condition = models.ForeignKey(Condition, null=True, on_delete=models.PROTECT, related_name="+")
    model_digest = models.CharField(max_length=64)
    seconds = models.FloatField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["participant_id", "occasion", "side"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "occasion", "side"], name="list_of_occasion_once")
        ]

    def __str__(self) -> str:
        return f"List of {self.participant}"


class RecommendedItem(models.Model):
    """One slot of the list. `is_filled` marks items added by popularity because the algorithm had no score.

    `has_trailer` records whether the item had a trailer or another sample when the list was created, None if unknown.
    For items without one the questions refer to the details instead. `explanation` is the text shown with the item, in
    each language of the study; `explanation_kind` says where it comes from, and is empty without one. `rank` is the
    place on the page; where lists are shuffled, `model_rank` is the place that the model gave, else None.
    """

    recommendation_list = models.ForeignKey(RecommendationList, on_delete=models.CASCADE, related_name="slots")
    rank = models.PositiveSmallIntegerField()
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    score = models.FloatField(null=True)  # None if popularity filled the slot
    is_filled = models.BooleanField(default=False)
    has_trailer = models.BooleanField(null=True)
    model_rank = models.PositiveSmallIntegerField(null=True)
    explanation = models.JSONField(default=dict, blank=True)
    explanation_kind = models.CharField(max_length=12, blank=True)

    class Meta:
        ordering = ["recommendation_list_id", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["recommendation_list", "rank"], name="slot_rank_once"),
            models.UniqueConstraint(fields=["recommendation_list", "item"], name="slot_item_once"),
        ]

    def __str__(self) -> str:
        return f"{self.rank}. {self.item}"


class Event(models.Model):
    """An event on a page: a view, a search, opened details or an opened trailer.

    Events recorded by the server have no `key`. Events sent by a browser have a key created by the browser, so that
    events sent twice are stored once. `at` is the server's time, `client_at` the browser's.
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=36, blank=True)
    page = models.CharField(max_length=40, blank=True)  # key of a page of the flow
    rank = models.PositiveSmallIntegerField(default=0)  # of the item, on pages about one
    occasion = models.PositiveSmallIntegerField(default=1)  # of the list, on pages of one
    seconds = models.FloatField(null=True, blank=True)  # time the page was visible, if the browser reports it
    hidden_seconds = models.FloatField(null=True, blank=True)  # time it was open but hidden before that
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

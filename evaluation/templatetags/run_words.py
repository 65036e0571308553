"""Names of splits, protocols and parameters as the form of a new run calls them."""

from __future__ import annotations

from django import template

from evaluation import tables

register = template.Library()
register.filter("title_of", tables.title_of)  # of a split or a protocol
register.filter("in_words", tables.parameters_in_words)  # of a model

"""Checks of an installation for its operator, each with a remedy."""

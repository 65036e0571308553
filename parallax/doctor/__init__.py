"""Checks of an installation for whoever runs it, each with a remedy."""

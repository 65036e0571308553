"""Sentences about a study's plan: plain values in, text out. Pure."""

"""Webhooks: what happens in studies and to jobs, sent to addresses of researchers."""

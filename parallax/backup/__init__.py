"""Backups: one file with the database, stored files and the secret key, and how an installation is restored from it."""

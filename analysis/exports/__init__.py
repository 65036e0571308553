"""A report as a page and as files."""

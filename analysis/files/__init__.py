"""A report as a page, as files and as the study package with the data and the scripts."""

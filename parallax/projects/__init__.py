"""Pages of projects: their members, datasets and runs, and who sees a dataset."""

"""REST API of runs, models and experiments."""

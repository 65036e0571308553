"""The analyses: from what was read to the results that a report stores."""

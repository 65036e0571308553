"""Assignment of participants to conditions: methods, strata, quotas and their expected imbalance. Pure functions."""

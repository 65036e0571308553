"""Which condition a newcomer meets: methods, strata, quotas, and what to expect of them. Pure."""

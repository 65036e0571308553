"""Rows of studies and runs, as the analyses take them."""

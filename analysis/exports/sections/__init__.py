"""The sections of a report, each from the results alone; one module for each noun."""

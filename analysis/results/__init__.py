"""The results of a report as frozen dataclasses; `codec` alone writes them as JSON and reads them back."""

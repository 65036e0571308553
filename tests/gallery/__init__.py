"""Screenshots of every page: `pages` finds those of the console, `shoot` takes the pictures (`make screenshots`)."""

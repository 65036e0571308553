"""What surrounds the pages of the apps: front page, home, search, help, and the pages of errors."""

"""Whether an installation's rows, artefacts and exports agree; each check looks at one thing and says what it finds."""

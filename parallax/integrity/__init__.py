"""Whether an installation's rows, artefacts and exports agree: each check looks at one thing and names what it finds."""

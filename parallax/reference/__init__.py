"""Reference pages generated from the code: commands, settings, algorithms, statistical tests, columns, questions, API.

Each module returns the entries of one page as Markdown; `pages` puts them where a page of `docs/` names them. Nothing
here is written to a file: the documentation site and `/help/` ask for the entries when they render a page.
"""

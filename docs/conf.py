"""Sphinx configuration of the manual: Markdown in, HTML out."""

project = "stiction"
author = "the stiction authors"
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme = "alabaster"
exclude_patterns = ["images"]
# Links to sources outside docs/ are for readers of the repository.
suppress_warnings = ["myst.xref_missing"]

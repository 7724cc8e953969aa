"""Sphinx configuration of the manual: Markdown in, HTML out."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from stiction import __version__ as release

project = "stiction"
author = "the stiction authors"
copyright = author
version = release
extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "python_api",
    "cpp_api",
    "repository_pages",
    "replays",
    "short_cells",
]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["images", "_ext", "_build"]

html_theme = "furo"
html_title = f"stiction {release}"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f99", "color-brand-content": "#1f5f99"},
    "dark_css_variables": {"color-brand-primary": "#79b8f0", "color-brand-content": "#79b8f0"},
}
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"
pygments_style = "friendly"
pygments_dark_style = "github-dark"

# Breathe declares the namespace anew in every header; a type in a signature, such as `type`, may
# have the name of attributes of several classes.
suppress_warnings = ["duplicate_declaration.cpp", "ref.python"]

add_module_names = False
python_maximum_signature_line_length = 88
cpp_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

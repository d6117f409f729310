"""The site: the Markdown pages of this folder, and the API from the docstrings. Built by `make docs`."""

import sys
from pathlib import Path

import leastaction

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "leastaction"
author = "The leastaction authors"
project_copyright = author
version = release = leastaction.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser", "gallery", "mathml"]
exclude_patterns = ["_extensions", "_static"]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3  # as code hosts make them, so that links within a page work on both

default_role = "py:obj"  # a name in single backticks links to it where it can
add_module_names = False
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say shape, frame and unit, which types do not
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"leastaction {version}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
html_copy_source = False

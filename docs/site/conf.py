"""How Sphinx builds the documentation site from the pages that `pages.py` has gathered: `make docs`."""

import re
from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

project = "Subnormal"
copyright = "the Subnormal authors, MIT licence"
version = release = version_of("subnormal")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
include_patterns = [
    "index.md",
    "explorer.md",
    "start.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "api.md",
    "attacks/*.md",
    "mechanisms/*.md",
    "docs/*.md",
    "notebooks/**.ipynb",
    "museum/README.md",
    "benchmarks/**.md",
    "vectors/**.md",
]
nb_execution_mode = "off"  # the outputs are committed with the notebooks, and `make test` runs them
nb_render_markdown_format = "myst"  # tables too
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
html_math_renderer = "mathml"  # which browsers show without a network, unlike MathJax
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"Subnormal {version}"
html_static_path = ["static"]
html_css_files = ["charts.css", "site.css", "slides.css"]
html_js_files = [("switcher.js", {"defer": "defer"}), ("slides.js", {"defer": "defer"})]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_extra_path = ["extra"]
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def open_pages(app: Sphinx, document: nodes.document, name: str) -> None:
    """Make links to pages that Sphinx does not build, such as the explorer, open them and not download them."""
    for link in list(document.findall(addnodes.download_reference)):
        if link["reftarget"].endswith(".html"):
            opened = nodes.reference("", "", *link.children, refuri=link["reftarget"])
            link.replace_self(opened)


def keep_fragments(app: Sphinx, name: str, source: list[str]) -> None:
    """Make links to a state of such a page HTML: Markdown would lose what stands after the #."""
    source[0] = re.sub(r"\[([^\]]+)\]\(([\w./]*\.html#[^)]+)\)", r'<a href="\2">\1</a>', source[0])


def mathml(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML."""
    block = isinstance(node, nodes.math_block)
    translator.body.append(convert(node.astext(), display="block" if block else "inline"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Connect the changes above."""
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    app.connect("source-read", keep_fragments)
    app.connect("doctree-resolved", open_pages)

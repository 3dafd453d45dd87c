"""What MkDocs asks while it builds the site (see mkdocs.yml).

- Pages may link to files of the repository that are not in docs/: each becomes a page below source/.
- Blocks that `run_pages.py` has run are followed by what they printed and drew; so are the cells of notebooks.
- Names of options get a class, so that the style can keep them whole.
- The reference of the C++ library is made from what Doxygen reads in the headers, that of a run's JSON from its schema.
"""

import json
import os
import pathlib
import posixpath
import re
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_reference
import report_reference
import run_notebooks
import run_pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = pathlib.Path(os.environ.get("TRACENORM_DOCS_RUNS", ROOT / "build" / "docs-runs"))
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
LANGUAGES = {".py": "python", ".cpp": "cpp", ".sh": "sh", ".json": "json", ".cff": "yaml"}


def repository_path(page):
    """Where in the repository the text of a page stands."""
    return page.removeprefix("source/") if page.startswith("source/") else f"docs/{page}"


def site_path(path):
    """Where in the site a file of the repository is."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"


def targets(text, page):
    """(link as written, file of the repository, what follows '#') of every relative link."""
    for match in LINK.finditer(text):
        link, _, anchor = match.group(2).partition("#")
        if link and ":" not in link:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(page)), link))
            yield match.group(2), path, anchor


def outside_files(pages):
    """Files that are not in docs/ and that pages link to, directly or by way of one another."""
    found, waiting = set(), list(pages)
    while waiting:
        page, text = waiting.pop()
        for _, path, _ in targets(text, page):
            if path.startswith(("docs/", "..")) or path in found or not (ROOT / path).is_file():
                continue
            found.add(path)
            if path.endswith(".md"):
                waiting.append((f"source/{path}", (ROOT / path).read_text(encoding="utf-8")))
    return sorted(found)


def notebook_page(path):
    done = RUNS / "notebooks" / pathlib.Path(path).name
    if not done.exists():
        raise PluginError(f"{path} was not run: `make docs` does that first (tools/docs/run_notebooks.py)")
    return run_notebooks.page(path, done.read_text(encoding="utf-8"))


def source_page(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        return notebook_page(path)
    if path.endswith(".md"):
        return text
    return f"# {path}\n\n~~~~{LANGUAGES.get(pathlib.Path(path).suffix, 'text')}\n{text}\n~~~~\n"


def on_files(files, config):
    pages = [(file.src_uri, file.content_string) for file in files.documentation_pages()]
    nav = "".join(f"[]({path}) " for path in ("../CHANGELOG.md", "../CONTRIBUTING.md", "../HACKING.md"))
    for path in outside_files([*pages, ("index.md", nav)]):
        files.append(File.generated(config, site_path(path), content=source_page(path)))
    for uri, text in [*cpp_reference.pages(ROOT), *report_reference.pages(ROOT)]:
        files.append(File.generated(config, uri, content=text))
    drawn = [*run_pages.PAGES, "notebooks"]
    for page, place in zip(drawn, [*run_pages.PAGES, "source/examples/notebooks"], strict=True):
        for picture in sorted((RUNS / page).glob("*.png")):
            files.append(File.generated(config, f"{place}/{picture.name}", abs_src_path=str(picture)))
    return files


def gallery():
    """Every picture of the tutorials, as a link to its page."""
    parts = []
    for page in run_pages.PAGES:
        for output in json.loads((RUNS / page / "outputs.json").read_text()):
            for picture in output["pictures"]:
                title = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
                parts.append(f"[![{picture['alt']}]({page}/{picture['file']})]({page}.md)\n\n*{title}*")
    return "\n\n".join(parts)


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    name = uri.removesuffix(".md")
    markdown = markdown.replace("<!-- pictures of the tutorials -->", gallery() if uri == "gallery.md" else "")
    if name in run_pages.PAGES:
        record = RUNS / name / "outputs.json"
        if not record.exists():
            raise PluginError(f"{uri} was not run: `make docs` does that first (tools/docs/run_pages.py)")
        markdown = run_pages.with_outputs(markdown, json.loads(record.read_text()), posixpath.basename(name))
    for link, path, anchor in sorted(targets(markdown, uri), key=lambda found: -len(found[0])):
        if path.startswith("docs/") and not uri.startswith("source/"):
            continue  # MkDocs knows
        if (ROOT / path).is_file():
            there = posixpath.relpath(site_path(path), posixpath.dirname(uri) or ".")
            markdown = markdown.replace(f"]({link})", f"]({there}{'#' + anchor if anchor else ''})")
    return markdown


def on_page_content(html, page, config, files):
    """Names of options, which a browser would break after their first hyphen."""
    return re.sub(r"<code>(-[^<]{1,28})</code>", r'<code class="option">\1</code>', html)

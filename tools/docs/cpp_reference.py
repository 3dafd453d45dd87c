"""The reference of the C++ library, from what Doxygen reads in the public headers."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

# What people start with, first; the others follow by name.
FIRST = ["fit", "solve", "problem", "observations", "loss", "penalty", "constraint", "run", "model", "io", "verify"]

SETTINGS = """
QUIET = YES
WARNINGS = NO
WARN_IF_UNDOCUMENTED = NO
INPUT = {headers}
RECURSIVE = YES
FILE_PATTERNS = *.hpp
STRIP_FROM_PATH = {headers}
STRIP_FROM_INC_PATH = {headers}
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = TRACENORM_INLINE=inline TRACENORM_HOST_DEVICE=
OUTPUT_DIRECTORY = {out}
"""


def words(node):
    """The text of a node; code stays code."""
    if node is None:
        return ""
    text = node.text or ""
    for child in node:
        inner = words(child)
        text += f"`{inner.strip('`')}`" if child.tag == "computeroutput" and inner else inner
        text += child.tail or ""
        if child.tag in ("para", "listitem"):
            text += " "
    return text


def comment(member):
    """Brief and longer description, and what stands behind a member on its line."""
    parts = [words(member.find(tag)) for tag in ("briefdescription", "detaileddescription", "inbodydescription")]
    return re.sub(r"\s+", " ", " ".join(parts)).strip()


def plain(text):
    return re.sub(r"\s+", " ", text).replace("< ", "<").replace(" >", ">").replace(" &", "&").replace(" *", "*").strip()


def declaration(member):
    kind = member.get("kind")
    name = member.findtext("name")
    type_ = plain(words(member.find("type")).replace("`", ""))
    if kind == "function":
        arguments = plain(member.findtext("argsstring") or "()")
        template = member.find("templateparamlist")
        head = ""
        if template is not None:
            inner = ", ".join(plain(f"{words(p.find('type'))} {p.findtext('declname') or ''}") for p in template)
            head = f"template <{inner}>\n"
        return f"{head}{type_} {name}{arguments};".strip()
    if kind == "typedef":
        return f"using {name} = {type_};"
    if kind == "enum":
        values = ", ".join(value.findtext("name") for value in member.findall("enumvalue"))
        return f"enum class {name} {{ {values} }};"
    initial = plain(words(member.find("initializer")).replace("`", ""))
    return f"{type_} {name}{member.findtext('argsstring') or ''}{' ' + initial if 0 < len(initial) < 60 else ''};"


def shown(member):
    return member.get("prot") in (None, "public") and member.get("kind") in ("function", "typedef", "enum", "variable")


def described(member):
    lines = [f"```cpp\n{declaration(member)}\n```\n"]
    if comment(member):
        lines.append(comment(member) + "\n")
    remarks = [
        f"- `{value.findtext('name')}`: {comment(value)}" for value in member.findall("enumvalue") if comment(value)
    ]
    if remarks:
        lines.append("\n".join(remarks) + "\n")
    return "\n".join(lines)


def class_part(compound):
    name = compound.findtext("compoundname").removeprefix("tracenorm::")
    lines = [f"### `{name}` {{: #{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')} }}\n", comment(compound) + "\n"]
    members = [member for section in compound.findall("sectiondef") for member in section.findall("memberdef")]
    rows = []
    for member in filter(shown, members):
        code = declaration(member).replace("\n", " ").replace("|", "\\|")
        rows.append(f"| `{code}` | {comment(member).replace('|', chr(92) + '|')} |")
    if rows:
        lines.append("| member | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(lines)


def header_part(name, file, compounds, free, opening):
    lines = [f"## `tracenorm/{name}`\n", opening + "\n"]
    for inner in file.findall("innerclass"):
        compound = compounds.get(inner.get("refid"))
        if compound is not None and inner.get("prot", "public") == "public" and "anonymous" not in (inner.text or ""):
            lines.append(class_part(compound))
    lines += [described(member) for member in free.get(name, [])]
    return "\n".join(lines)


def opening_comment(path):
    """What a header says of itself in its first lines."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return " ".join(lines)


def read_headers(headers):
    if not shutil.which("doxygen"):
        raise SystemExit("doxygen was not found: tools/install_packages.sh docs installs it")
    with tempfile.TemporaryDirectory() as out:
        settings = SETTINGS.format(headers=headers, out=out)
        subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, capture_output=True)
        found = [
            ElementTree.parse(path).getroot().find("compounddef") for path in pathlib.Path(out, "xml").glob("*.xml")
        ]
    return [compound for compound in found if compound is not None]


def pages(root):
    headers = root / "include"
    found = read_headers(headers)
    compounds = {c.get("id"): c for c in found if c.get("kind") in ("class", "struct")}
    files = {c.find("location").get("file").removeprefix("tracenorm/"): c for c in found if c.get("kind") == "file"}

    free = {}  # functions, types and values of namespaces, by their header
    for member in (m for c in found if c.get("kind") == "namespace" for m in c.findall("sectiondef/memberdef")):
        if shown(member) and "::detail" not in (member.findtext("qualifiedname") or ""):
            free.setdefault(member.find("location").get("file").removeprefix("tracenorm/"), []).append(member)
    for members in free.values():
        members.sort(key=lambda member: int(member.find("location").get("line")))

    def place(name):
        stem = name.removesuffix(".hpp")
        return (FIRST.index(stem) if stem in FIRST else len(FIRST), "/" in name, name)

    parts = [
        "# C++ reference\n",
        "Every public header, as it says itself. `#include <tracenorm/tracenorm.hpp>` brings them all; link to "
        "`tracenorm::tracenorm`, or to `tracenorm::core` where no files are read or written. "
        "[A first program](../start/cpp.md).\n",
    ]
    for name in sorted(files, key=place):
        if name not in ("tracenorm.hpp",):
            parts.append(header_part(name, files[name], compounds, free, opening_comment(headers / "tracenorm" / name)))
    yield "reference/cpp.md", "\n".join(parts)

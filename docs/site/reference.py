"""The reference pages, each made of the source that says the same to its readers: manual pages, the header, stubs, comments."""

import ast
import re
from pathlib import Path

OWN = "<!-- made by docs/site/reference.py -->\n\n"


def _plain(text):
    """Prose, so that no letter of it is Markdown's."""
    return re.sub(r"([\\*_`\[\]<>|])", r"\\\1", text)


# -- commands: the manual pages, which `cutune manual` makes of the tables that --help prints


def _spans(text):
    """What stands in `backticks` stays code."""
    return "".join(p if p.startswith("`") else _plain(p) for p in re.split(r"(`[^`]*`)", text))


def _roff(text):
    for escape, sign in ((r"\e", "\\"), (r"\-", "-"), (r"\(aq", "'"), (r"\(ga", "`"), (r"\(ha", "^"), (r"\(ti", "~"), (r"\(dq", '"'), (r"\&", "")):
        text = text.replace(escape, sign)
    return text


def _help(text):
    """Prose of the help: its options are code, too."""
    text = re.sub(r"(?<![`\w-])(--[a-z][\w-]*)(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"`\1`", _roff(text))
    return _spans(text)


def _fonts(line):
    """A line with names in bold and in italics, as code."""
    return "`" + _roff(re.sub(r"\\f[BIR]", "", line)) + "`"


def _manual_page(text):
    """Its sections: {title: Markdown}."""
    sections, out, lines, i = {}, None, text.split("\n"), 0
    while i < len(lines):
        line = lines[i]
        if line.startswith(".SH "):
            out = sections[line[4:]] = []
        elif line == ".PP":
            out.append("")
        elif line == ".TP":
            i += 1
            name = lines[i]
            name = f"`{_roff(name[4:].replace(' (1)', ''))}`" if name.startswith(".BR ") else _fonts(name)
            out += ["", name, f":   {_help(lines[i + 1])}"]
            i += 1
            while i + 1 < len(lines) and not lines[i + 1].startswith("."):
                i += 1
                out.append(f"    {_help(lines[i])}")
        elif line == ".EX":
            out.append("\n```sh")
        elif line == ".EE":
            out.append("```\n")
        elif line.startswith((".TH", ".BR")) or out is None:
            pass
        elif out and "```sh" in "".join(out) and not out[-1].startswith("```\n"):
            out.append(_roff(line))
        else:
            out.append(_fonts(line) if r"\fB" in line else _help(line))
        i += 1
    return {title: "\n".join(body).strip() for title, body in sections.items()}


def commands(manual):
    pages = {p.stem: _manual_page(p.read_text()) for p in Path(manual).glob("*.1")}
    order = re.findall(r"`cutune-([\w-]+)`", pages["cutune"]["COMMANDS"])
    out = ["# Commands\n", OWN, pages["cutune"]["DESCRIPTION"], "\n`cutune help COMMAND` and `man cutune-COMMAND` say the same.",
           "Exit status: " + pages["cutune"]["EXIT STATUS"], "\n| command | what it does |\n|---|---|"]
    for name in order:
        out.append(f"| [`{name}`](#cutune-{name}) | {pages['cutune-' + name]['NAME'].split(' - ', 1)[1]} |")
    out += [f"\n**{title}**\n\n{pages['cutune'][title.upper()]}" for title in ("Environment", "Files")]
    for name in order:
        page = pages[f"cutune-{name}"]
        out += [f"\n## cutune {name}\n", page["SYNOPSIS"], "", page["DESCRIPTION"], ""]
        if page.get("EXAMPLES"):
            out += [page["EXAMPLES"], ""]
        out += ["**Options**\n", page["OPTIONS"]]
    return "\n".join(out) + "\n"


# -- the C interface: include/cutune.h


def _comment_prose(text, known):
    """A comment's text: paragraphs, lists, code that is indented; names of the interface become links."""

    def name(match):
        word = match[0]
        return f"[`{word}`](#{word})" if word in known else f"`{word}`"

    def spans(line):
        parts = re.split(r"(`[^`]*`|\bcutune_\w+|\bCUTUNE_\w+(?:=\w+)?)", line)
        return "".join(p if p.startswith("`") else name([p]) if re.match(r"cutune_|CUTUNE_", p) else _plain(p) for p in parts)

    out, code = [], False
    for line in text.split("\n"):
        if re.match(r" {4}", line):
            if not code:
                out += ["", "```c"]
            code = True
            out.append(line[4:])
            continue
        if code:
            out += ["```", ""]
            code = False
        out.append(("\n" if line.startswith("- ") and not (out and out[-1].startswith("- ")) else "") + spans(line))
    return "\n".join(out)


def _comment_text(comment):
    body = comment.strip()[2:-2]
    return "\n".join(re.sub(r"^ \* ?", "", line) if line.startswith(" *") else line.strip() for line in body.split("\n")).strip()


def _declared(code):
    """The names that a piece of the header declares, the functions' and types' first."""
    names = re.findall(r"^CUTUNE_API .*?\b(cutune_\w+)\(", code, re.M) + re.findall(r"^typedef [^{};]*?\b(cutune_\w+)(?:\(|;)", code, re.M)
    names += re.findall(r"^\} (cutune_\w+);", code, re.M) + re.findall(r"^enum (cutune_\w+) \{", code, re.M)
    names += re.findall(r"^#define (CUTUNE_VERSION_NUMBER)", code, re.M)
    return list(dict.fromkeys(n for n in names))


def _header_parts(header):
    """The comment at its head, and what is between the braces of extern "C"."""
    head, rest = Path(header).read_text().split("*/", 1)
    return head + "*/", rest[rest.index('extern "C" {') : rest.rindex("#ifdef __cplusplus")].split("#endif", 1)[1]


def c_names(header):
    return _declared(_header_parts(header)[1])


def c_interface(header):
    head, body = _header_parts(header)
    chunks = re.split(r"/\* -{20,} (.*?) \*/", body)  # before the first section, then titles and bodies
    known = set(_declared(body))
    out = ["# C interface\n", OWN, "`#include <cutune.h>`; [the guide](../library.md) explains it.\n", _comment_prose(_comment_text(head), known)]
    for title, part in zip(["version and errors"] + chunks[1::2], chunks[::2]):
        out.append(f"\n## {title[0].upper()}{title[1:]}\n")
        for piece in re.split(r"\n\s*\n", part.strip("\n")):
            # A piece may have several declarations, each below a comment of its own at the beginning of a line.
            for item in re.split(r"\n(?=/\*)", piece):
                match = re.match(r"(/\*.*?\*/)\n?(.*)", item.strip("\n"), re.S)
                said, code = (_comment_text(match[1]), match[2].strip("\n")) if match else ("", item.strip("\n"))
                names = _declared(code)
                if names:
                    out.append("\n### " + ", ".join(n for n in names) + f" {{ #{names[0]} }}\n")
                    out += [f'<a name="{n}"></a>' for n in names[1:]]
                if code:
                    out += ["", "```c", re.sub(r"^CUTUNE_API ", "", code, flags=re.M), "```", ""]
                if said:
                    out += [_comment_prose(said, known), ""]
    return "\n".join(out) + "\n"


# -- Python: the stubs' signatures with the docstrings of package and module


def _docstrings(root):
    found = {}
    for file in ("__init__.py", "_tuning.py"):
        for node in ast.parse((root / "python/cutune" / file).read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
                found[node.name] = ast.get_docstring(node)
    for file in (root / "python/src").glob("*.c"):
        source = re.sub(r'"\s*\n\s*"', "", file.read_text())
        owner = {"database.c": "Database.", "op.c": "Op."}.get(file.name, "")
        for name, text in re.findall(r'\{ "(\w+)",[^"{}]*METH_[^"]*,\s*"((?:[^"\\]|\\.)*)" \}', source):
            found[owner + name] = text.replace("\\n", "\n").split("--\n\n", 1)[-1]
        for text in re.findall(r'Py_tp_doc, "((?:[^"\\]|\\.)*)"', source):
            found[owner.rstrip(".")] = text.replace("\\n", "\n").split("--\n\n", 1)[-1]
    return found


def python_interface(root):
    stub = (root / "python/cutune/__init__.pyi").read_text()
    docs = _docstrings(root)
    general = {"open", "database", "op", "ops", "winners", "refresh", "flush", "lookup", "why", "device", "load", "tune", "check", "pin", "unpin"}
    kinds = {"Functions": [], "Ops that ship": [], "Types": [], "Exceptions": []}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(b) for b in node.bases]
            kind = "Exceptions" if node.name.endswith("Error") else "Types"
            code = f"class {node.name}" + (f"({', '.join(bases)})" if bases else "")
            entry = [f"### {node.name}\n", f"```python\n{code}\n```\n", _spans(docs.get(node.name, ""))]
            for member in node.body:
                if isinstance(member, ast.AnnAssign):
                    entry.append(f"- `{ast.unparse(member)}`")
                elif isinstance(member, ast.FunctionDef):
                    said = docs.get(f"{node.name}.{member.name}", "")
                    shown = ast.unparse(member).removesuffix(": ...").removesuffix("\n    ...").removeprefix("def ")
                    entry += ["", f"```python\n{shown.rstrip(':')}\n```", "", _spans(said)]
            kinds[kind] += entry + [""]
        elif isinstance(node, ast.FunctionDef):
            shown = ast.get_source_segment(stub, node).removeprefix("def ").removesuffix(": ...")
            if node.name in general:
                kinds["Functions"] += [f"### {node.name}\n", f"```python\ncutune.{shown}\n```\n", _spans(docs[node.name]), ""]
            else:
                kinds["Ops that ship"].append(shown)
    module = ast.get_docstring(ast.parse((root / "python/cutune/__init__.py").read_text()))
    kinds["Ops that ship"] = ["What each computes is [here](../ops.md).\n", "```python\n" + "\n".join(kinds["Ops that ship"]) + "\n```\n"]
    out = ["# Python interface\n", OWN, "[The guide](../python.md) explains it.\n", module.split("\n", 1)[0] + "\n"]
    for title, body in kinds.items():
        out += [f"\n## {title}\n"] + body
    return "\n".join(out) + "\n"


# -- Lua: the comments of the files that scripts see


def _lua_items(text):
    """(comment, [line that declares, ...]) of what stands at the left margin."""
    items, comment, names = [], [], []
    for line in text.split("\n") + [""]:
        if line.startswith("--"):
            if names:
                items.append((comment, names))
                comment, names = [], []
            comment.append(line[2:].removeprefix(" "))
        elif line.strip() == "" and not names and comment:
            items.append((comment, []))
            comment = []
        elif re.match(r"(local )?function [\w.]+\(|\w+ = \w+\(", line):
            names.append(line)
    return items + ([(comment, names)] if names else [])


def _lua_entry(title, comment, notes=()):
    prose = []
    for line in comment:
        prose.append(line if line.startswith("  ") else _spans(line))
    code = [i for i, line in enumerate(comment) if line.startswith("  ")]
    if code:
        prose.insert(code[0], "\n```text")
        prose.insert(code[-1] + 2, "```\n")
    first, *others = re.findall(r"`([\w.]+)\(", title)
    return [f"### {title} {{ #{first} }}\n", *[f'<a name="{n}"></a>' for n in others], "\n" + "\n".join(prose), "", *[f"- {n}" for n in notes], ""]


def _lua_table(lines):
    """The comment THE TABLE as tables of Markdown: an op's fields, a variant's, a launch's, by how far they are indented."""
    levels, columns, out = {}, {}, []
    at = 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        match = re.match(r"( +)(\w+(?:, \w+)*)  +(\S.*)$", line)
        if match and indent in (2, 15, 28):
            at = indent
            columns[at] = match.start(3)
            levels.setdefault(at, []).append([match[2], [match[3]]])
        else:
            row = levels[at][-1][1]
            apart = indent > columns[at] or row[-1].startswith("<br>") or line.strip().startswith("or {")  # an example, what follows one
            row.append(("<br>" if apart else "") + line.strip())
    for title, indent in (("An op", 2), ("A variant", 15), ("A launch", 28)):
        out.append(f"\n## {title}\n\n| field | what it says |\n|---|---|")
        for name, said in levels[indent]:
            text = re.sub(r"  +", " ", re.sub(r"Each has$", "Each has the fields below", " ".join(said)))
            text = re.sub(r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", r"`\g<0>`", text.replace("`", ""))  # what is Lua, as code
            text = "<br>".join(_spans(part) for part in text.split("<br>"))
            out.append(f"| {', '.join(f'`{n}`' for n in name.split(', '))} | {text} |")
    return out


def op_scripts(file):
    text = Path(file).read_text()
    makers = dict(re.findall(r"local function (\w+)\([^)]*\)\n(?:.*\n)??\s+return function\(([^)]*)\)", text))
    head, rest = text.split("\n\n", 1)
    head = [line[2:].removeprefix(" ") for line in head.split("\n")]
    at, last = head.index("THE TABLE"), next(i for i, line in enumerate(head) if line.startswith("EXPRESSIONS"))
    out = ["# Op scripts\n", OWN, "[The guide](../op-authors.md) explains all of this, with examples.\n", _spans("\n".join(head[:at])),
           *_lua_table([line for line in head[at + 1 : last] if line]),
           "\n## Expressions\n", _spans("\n".join(head[last:])), "\n## Functions\n"]
    for comment, lines in _lua_items(rest):
        shown, notes = [], []
        for line in lines:
            if line.startswith("local"):
                continue
            match = re.match(r"function (\w+\([^)]*\))", line)
            made = re.match(r"(\w+) = (\w+)\(", line)
            call = match[1] if match else f"{made[1]}({makers[made[2]]})" if made and made[2] in makers else None
            if call:
                shown.append(call)
                if " -- " in line:
                    notes.append(f"`{call.split('(')[0]}`: {_spans(line.split(' -- ', 1)[1])}")
        if shown:
            out += _lua_entry(", ".join(f"`{s}`" for s in shown), comment, notes)
    return "\n".join(out) + "\n"


def strategy_library(file):
    out = ["# Strategies in Lua\n", OWN, "`ask`, `tell`, `space` and `random` are described in [the guide](../strategies.md#the-interface).",
           "This is `lib`, which strategies share.\n"]
    for comment, lines in _lua_items(Path(file).read_text()):
        shown = [re.match(r"function (lib\.\w+\([^)]*\))", line) for line in lines]
        shown = [m[1] for m in shown if m]
        if shown:
            out += _lua_entry(f"`{shown[0]}`", comment)
    return "\n".join(out) + "\n"

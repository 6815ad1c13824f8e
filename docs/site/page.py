"""What the site's builder and the tests of the documentation share: the parts of a Markdown page."""

import re
from typing import NamedTuple


class Block(NamedTuple):
    """A block of code."""

    line: int  # of its first line of code, from 1
    lang: str  # "" for an indented block, and for a fence that says none
    fenced: bool
    marks: list  # the texts of the comments right before it, <!-- ... -->
    text: str


FENCE = re.compile(r"^( *)(```+|~~~+)\s*([\w+-]*)\s*$")
COMMENT = re.compile(r"<!--(.*?)-->", re.S)


def blocks(text):
    """All blocks of code of a page, in their order; <!-- setup: ... --> is a block of the language `setup`."""
    lines, found, marks, i = text.split("\n"), [], [], 0
    while i < len(lines):
        line = lines[i]
        fence = FENCE.match(line)
        if fence:
            indent, end, body = len(fence[1]), fence[2], []
            first = i = i + 1
            while i < len(lines) and lines[i].strip() != end:
                body.append(lines[i][indent:] if not lines[i][:indent].strip() else lines[i])
                i += 1
            found.append(Block(first + 1, fence[3], True, marks, "\n".join(body) + "\n"))
            marks = []
        elif line.lstrip().startswith("<!--"):
            first = i
            while "-->" not in lines[i]:
                i += 1
            mark = " ".join(COMMENT.search("\n".join(lines[first : i + 1]))[1].split())
            if mark.startswith("setup: "):
                found.append(Block(first + 1, "setup", True, marks, mark.removeprefix("setup: ") + "\n"))
                marks = []
            else:
                marks = marks + [mark]
        elif re.match(r" {4,}\S", line) and (i == 0 or not lines[i - 1].strip() or lines[i - 1].lstrip().startswith("<!--")):
            first, body = i, []
            while i < len(lines) and (not lines[i].strip() or lines[i].startswith("    ")):
                body.append(lines[i][4:])
                i += 1
            i -= 1
            found.append(Block(first + 1, "", False, marks, "\n".join(body).rstrip() + "\n"))
            marks = []
        elif line.strip():
            marks = []
        i += 1
    return found


def without_code(text):
    """The page with blanks in place of its code, blocks and spans, so that what remains has the same places."""
    out, inside = [], None
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if inside:
            out.append("")
            inside = None if line.strip() == inside else inside
        elif fence:
            inside = fence[2]
            out.append("")
        elif line.startswith("    ") and (not out or not out[-1].strip() or out[-1] == "\0"):
            out.append("\0")  # an indented block goes on
        else:
            out.append(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda code: " " * len(code[0]), line))
    return "\n".join(out).replace("\0", "")


def slug(title):
    """A heading's anchor, as the site and GitHub make it."""
    title = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


def headings(text):
    """(line from 1, level, title, anchor) of each."""
    found, seen = [], {}
    plain = without_code(text).split("\n")
    for i, line in enumerate(text.split("\n")):
        match = HEADING.match(line) if HEADING.match(plain[i]) else None
        if match:
            anchor = slug(match[2])
            n = seen[anchor] = seen.get(anchor, -1) + 1
            found.append((i + 1, len(match[1]), match[2], f"{anchor}-{n}" if n else anchor))
    return found


def anchors(text):
    return {h[3] for h in headings(text)} | set(re.findall(r'<a (?:name|id)="([^"]+)"', text))


LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def links(text):
    """(line from 1, target) of each."""
    plain = without_code(text)
    return [(plain.count("\n", 0, m.start()) + 1, m[2]) for m in LINK.finditer(plain)]


def link_names(text, place_of):
    """The page with each `name` in it that place_of(name) gives a target for as a link to that, where it comes first."""
    seen, out = set(), []

    def linked(match):
        to = place_of(match[1])
        if not to or to in seen:
            return match[0]
        seen.add(to)
        return f"[{match[0]}]({to})"

    for line, shown in zip(text.split("\n"), without_code(text).split("\n")):
        prose = len(line) == len(shown) and not HEADING.match(line) and "](" not in line
        out.append(re.sub(r"(?<![`\[])`([^`]+)`(?![`\]])", linked, line) if prose else line)
    return "\n".join(out)


def replace_links(text, new):
    """The page with new(target) in the place of each link's target."""
    out = []
    for line, shown in zip(text.split("\n"), without_code(text).split("\n")):
        if len(line) != len(shown):
            out.append(line)
            continue
        at, parts = 0, []
        for m in LINK.finditer(shown):
            parts += [line[at : m.start(2)], new(m[2])]
            at = m.end(2)
        out.append("".join(parts) + line[at:])
    return "\n".join(out)

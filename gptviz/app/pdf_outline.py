"""Bookmarks for a PDF that Qt writes, which has none: appended as an update, as the format provides (ISO 32000, 7.5.6).

Qt also takes a space for a tab, as its fonts draw both alike; that is put right in its tables of characters.
"""

import re
from collections.abc import Sequence
from itertools import groupby

_CATALOG = re.compile(rb"(\d+) 0 obj\n<<\n/Type /Catalog\n(.*?)>>\nendobj", re.S)
_KIDS = re.compile(rb"/Kids\s*\[([^\]]*)\]")
_TRAILER = re.compile(rb"trailer\n<<\n/Size (\d+)\s*(.*?)>>\nstartxref\n(\d+)", re.S)
_CHARACTERS = re.compile(rb"\[(?:<[0-9A-Fa-f]{4}> ?)+\]")

Entry = tuple[str, str]  # the group, or nothing, and the title of a page


class PdfOutline:
    """Sees all that is written, and returns what has to be written last."""

    def __init__(self) -> None:
        self._length = 0
        self._catalog: tuple[int, bytes] | None = None

    def note(self, data: bytes) -> bytes:
        """Take a part that is written before the last one; return it as it was."""
        found = _CATALOG.search(data) if self._catalog is None else None
        if found is not None:
            self._catalog = int(found[1]), found[2]
        self._length += len(data)
        return data

    def ending(self, data: bytes, entries: Sequence[Entry]) -> bytes:
        """Return the last part with bookmarks, one for each page; without them if it is not what is expected."""
        data = _CHARACTERS.sub(lambda found: found[0].replace(b"<0009>", b"<0020>"), data)
        kids, trailer = _KIDS.search(data), _TRAILER.search(data)
        pages = [int(number) for number in re.findall(rb"(\d+) 0 R", kids[1])] if kids is not None else []
        if self._catalog is None or trailer is None or len(pages) != len(entries):
            return data
        return data + _update(self._length + len(data), self._catalog, trailer, pages, entries)


def _update(
    start: int, catalog: tuple[int, bytes], trailer: re.Match[bytes], pages: Sequence[int], entries: Sequence[Entry]
) -> bytes:
    root = int(trailer[1])
    objects: dict[int, bytes] = {catalog[0]: b"<<\n/Type /Catalog\n" + catalog[1] + b"/Outlines %d 0 R\n>>" % root}
    objects |= _items(root, pages, entries)
    parts, offsets = [], {}
    for number, body in objects.items():
        offsets[number] = start
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        start += len(parts[-1])
    size = max(objects) + 1
    table = b"".join(b"%d 1\n%010d 00000 n \n" % (number, offsets[number]) for number in sorted(offsets))
    ending = b"trailer\n<<\n/Size %d\n%s/Prev %s\n>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer[2], trailer[3], start)
    return b"".join((*parts, b"xref\n0 1\n0000000000 65535 f \n", table, ending))


def _items(root: int, pages: Sequence[int], entries: Sequence[Entry]) -> dict[int, bytes]:
    """Return the outline's objects: a bookmark for each group, with those of its pages below it, closed."""
    objects: dict[int, bytes] = {}
    free = root + 1
    top: list[tuple[int, str, int, list[tuple[int, str, int]]]] = []  # number, title, page, those below
    for group, members in groupby(zip(entries, pages, strict=True), key=lambda member: member[0][0]):
        listed = [(title, page) for (_, title), page in members]
        if not group:
            for title, page in listed:
                top.append((free, title, page, []))
                free += 1
            continue
        below = [(free + 1 + place, title, page) for place, (title, page) in enumerate(listed)]
        top.append((free, group, listed[0][1], below))
        free += 1 + len(below)
    _chain(objects, root, [(number, title, page) for number, title, page, _ in top])
    for number, _, _, below in top:
        if below:
            _chain(objects, number, below)
            ends = b"/First %d 0 R\n/Last %d 0 R\n/Count %d\n" % (below[0][0], below[-1][0], -len(below))
            objects[number] = objects[number].removesuffix(b">>") + ends + b">>"
    first, last = top[0][0], top[-1][0]
    objects[root] = b"<<\n/Type /Outlines\n/First %d 0 R\n/Last %d 0 R\n/Count %d\n>>" % (first, last, len(top))
    return objects


def _chain(objects: dict[int, bytes], parent: int, items: Sequence[tuple[int, str, int]]) -> None:
    for place, (number, title, page) in enumerate(items):
        text = title.encode("utf-16-be", "replace").hex().upper().encode()
        body = b"<<\n/Title <FEFF%s>\n/Parent %d 0 R\n/Dest [%d 0 R /Fit]\n" % (text, parent, page)
        if place:
            body += b"/Prev %d 0 R\n" % items[place - 1][0]
        if place + 1 < len(items):
            body += b"/Next %d 0 R\n" % items[place + 1][0]
        objects[number] = body + b">>"

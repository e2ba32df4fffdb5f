"""All frames of a demo in one short text, which a page's script takes apart again."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable

_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_HOLE = "\0"


def pack(pages: Iterable[str]) -> str:
    r"""Pack pages that differ in hardly more than their figures.

    A text that pages share is stored once, with numbered holes, and a page becomes the
    number of its text and the figures for its holes: a fiftieth of the pages' length
    before it is compressed.

    Examples
    --------
    >>> packed = pack(f"n = {n}, twice {2 * n} ({n} of 9)" for n in range(3))
    >>> content = json.loads(zlib.decompress(base64.b64decode(packed)))
    >>> content["templates"]
    ['n = \x000\x00, twice \x001\x00 (\x000\x00 of 9)']
    >>> content["frames"].splitlines()
    ['0 0 0', '0 1 2', '0 2 4']
    """
    pages = list(pages)
    alike: dict[str, list[int]] = {}
    for i, page in enumerate(pages):
        alike.setdefault(_FIGURE.sub(_HOLE, page), []).append(i)
    templates: list[str] = []
    lines = [""] * len(pages)
    for text, members in alike.items():
        # One column per figure of the text; equal columns share a hole, and a column
        # that never changes is text.
        columns = zip(*(_FIGURE.findall(pages[i]) for i in members), strict=True)
        holes: dict[tuple[str, ...], int] = {}
        parts = iter(text.split(_HOLE))
        template = next(parts)
        for column, part in zip(columns, parts, strict=True):
            if len(set(column)) == 1:
                template += column[0] + part
            else:
                hole = holes.setdefault(column, len(holes))
                template += f"{_HOLE}{hole}{_HOLE}{part}"
        for row, i in enumerate(members):
            figures = (column[row] for column in holes)
            lines[i] = " ".join([str(len(templates)), *figures])
        templates.append(template)
    content = json.dumps({"templates": templates, "frames": "\n".join(lines)})
    return base64.b64encode(zlib.compress(content.encode(), 9)).decode()

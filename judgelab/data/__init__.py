"""Published figures, shipped counts, and the registry that fetches the raw records."""

from __future__ import annotations

from judgelab.data.registry import (
    MORE_JUDGEBENCH,
    SOURCES,
    File,
    Source,
    blob_id,
    counts,
    fetch,
    published,
    tables,
)

__all__ = [
    "MORE_JUDGEBENCH",
    "SOURCES",
    "File",
    "Source",
    "blob_id",
    "counts",
    "fetch",
    "published",
    "tables",
]

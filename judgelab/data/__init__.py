"""Published figures, shipped counts, and the registry that fetches the raw records."""

from __future__ import annotations

from judgelab.data.registry import (
    SOURCES,
    File,
    Source,
    counts,
    fetch,
    published,
    tables,
)

__all__ = ["SOURCES", "File", "Source", "counts", "fetch", "published", "tables"]

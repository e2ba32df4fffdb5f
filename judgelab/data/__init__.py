"""Published figures, counts, examples of our own, and the registry of raw records."""

from __future__ import annotations

from judgelab.data.examples import example_documents, example_pairs
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
from judgelab.data.study import study_records, study_truth

__all__ = [
    "MORE_JUDGEBENCH",
    "SOURCES",
    "File",
    "Source",
    "blob_id",
    "counts",
    "example_documents",
    "example_pairs",
    "fetch",
    "published",
    "study_records",
    "study_truth",
    "tables",
]

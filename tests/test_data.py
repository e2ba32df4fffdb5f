"""Shipped tables say where they come from; sources are pinned; errors name the way."""

import csv
import hashlib
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from judgelab import data
from judgelab.errors import ChecksumMismatch, ValidationError

CONTENT = b'{"judge": "x", "item": 1, "verdict": "A"}\n'


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A local folder of raw records, and a source that has no public home."""
    monkeypatch.setenv("JUDGELAB_DATA", str(tmp_path))
    checksum = hashlib.sha256(CONTENT).hexdigest()
    files = (data.File("deep/er/v.jsonl", "http://nowhere.invalid/v.jsonl", checksum),)
    return tmp_path, data.Source("toy", "A toy", "nobody (2026)", "CC0", files)


def test_a_local_folder_comes_first_and_is_checked(mirror):
    root, toy = mirror
    path = root / "toy/deep/er/v.jsonl"
    path.parent.mkdir(parents=True)
    with pytest.raises(ValidationError, match=r"lacks 1 of 1 files: deep/er/v\.jsonl"):
        data.fetch(toy)
    path.write_bytes(CONTENT + b" ")
    with pytest.raises(ChecksumMismatch, match="is not the pinned file"):
        data.fetch(toy)
    path.write_bytes(CONTENT)
    assert data.fetch(toy) == root / "toy"


def test_every_source_is_pinned_by_commit_and_checksum():
    for name, one in data.SOURCES.items():
        assert name == one.name
        assert one.title
        assert one.citation
        assert one.licence
        assert one.files
        for file in one.files:
            assert file.address.startswith("https://raw.githubusercontent.com/")
            commit = file.address.split("/")[5]
            assert len(commit) == 40
            assert int(commit, 16)
            assert len(file.sha256) == 64
            assert int(file.sha256, 16)


def test_shipped_tables_begin_with_source_and_licence():
    folder = Path(str(resources.files("judgelab.data")))
    paths = [*folder.glob("*/*.csv"), *folder.glob("*/counts/*.csv")]
    assert len(paths) > 40
    for path in paths:
        lines = path.read_text("utf-8").splitlines()
        assert lines[0].startswith("# source: "), path
        assert lines[1].startswith("# licence: "), path
        table = [*csv.reader(line for line in lines if not line.startswith("#"))]
        assert len({len(row) for row in table}) == 1, path
        assert len(table) > 1, path


def test_published_tables_keep_their_header():
    for name in ("mtbench", "judgebench", "llmjudge", "mtsair", "rankjudge"):
        for table in data.tables(name):
            frame = data.published(name, table)
            assert len(frame) > 0
            assert frame.attrs["header"][0].startswith("source: ")


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValidationError, match="there are: table10, table11"):
        data.published("mtbench", "table1")
    with pytest.raises(ValidationError, match="there are: agreement_by_question"):
        data.counts("mtbench", "votes")
    for source in ("mt-bench", ""):
        with pytest.raises(
            ValidationError, match="there are: askmodel, judgebench, llmjudge"
        ):
            data.published(source, "table5")
    with pytest.raises(ValidationError, match="nothing is shipped"):
        data.counts("rankjudges", "votes")


def test_shipped_tables_need_no_http_client():
    code = (
        "import sys; from judgelab import data; data.published('mtbench', 'table5'); "
        "sys.exit(bool({'requests', 'urllib3'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_table_belongs_to_whoever_asked_for_it():
    mine = data.published("mtbench", "table3")
    mine.loc[0, "judge"] = "somebody else"
    mine.attrs["header"].clear()
    again = data.published("mtbench", "table3")
    assert again.attrs["header"]
    assert again.loc[0, "judge"] == "Claude-v1"

"""The ledger: a figure that should match and doesn't is a failure of this test."""

import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.papertable import COLUMNS, Cell, Match, PaperTable, summary
from judgelab.teach.reproduction import Ledger, ledger


@pytest.fixture(scope="module")
def book():
    return ledger()


def test_nothing_in_the_book_is_a_mismatch(book):
    assert book.mismatches() == []


def test_the_ledger_holds_every_paper(book):
    sources = " ".join(table.source for table in book.tables)
    assert "MT-bench" in sources
    assert book.counts()[Match.EXACT] > 100
    total = sum(len(table.cells) for table in book.tables)
    assert sum(book.counts().values()) == total
    both = [book.counts(basis) for basis in ("recomputed", "from print")]
    assert all(both[0][m] + both[1][m] == book.counts()[m] for m in Match)


def test_the_counts_stand_at_the_top(book):
    text = repr(book).splitlines()
    assert re.match(
        r"Recomputed from verdicts: \d+ figures checked, \d+ exact", text[0]
    )
    assert text[1].startswith("Checked in print only: ")
    assert book._repr_html_().startswith("<ul><li>Recomputed from verdicts: ")


def test_every_difference_has_its_reason(book):
    for table in book.tables:
        for cell in table.cells:
            if cell.match in (Match.NOT_REPRODUCED, Match.NOT_REPRODUCIBLE):
                assert len(cell.why) > 20, (table.table, cell.name)


def test_a_new_mismatch_is_found():
    cells = [Cell("good", 85, 0.8487, scale=100), Cell("bad", 85, 0.8687, scale=100)]
    found = Ledger([PaperTable("A paper", "Table 1", cells)]).mismatches()
    assert [(source, cell.name) for source, _, cell in found] == [("A paper", "bad")]


def match(paper, ours, **options):
    return Cell("x", paper, ours, **options).match


def test_verdicts_on_values():
    assert match(66, 0.6649, scale=100) is Match.EXACT
    assert match(66, 0.6651, scale=100) is Match.MISMATCH
    # Half-way: 28.75 is printed as 28.7 or 28.8.
    assert match(28.7, 0.2875, scale=100, decimals=1) is Match.EXACT
    assert match(28.8, 0.2875, scale=100, decimals=1) is Match.EXACT
    assert match(28.6, 0.2875, scale=100, decimals=1) is Match.MISMATCH
    assert match(0.5, 0.52, decimals=2, tolerance=0.02) is Match.WITHIN
    assert match(0.5, 0.53, decimals=2, tolerance=0.02) is Match.MISMATCH
    assert match(0.5, math.nan) is Match.MISMATCH
    assert match(0.5, Estimate.undefined("one category", 3)) is Match.MISMATCH
    assert match(66, None, why="not public") is Match.NOT_REPRODUCIBLE


def test_the_count_must_match_too():
    ours = Estimate(0.66, 0.6, 0.7, n=1343, method="Wilson")
    assert match(66, ours, scale=100, paper_n=1343) is Match.EXACT
    assert match(66, ours, scale=100, paper_n=1342) is Match.MISMATCH
    known = {"scale": 100, "known": True, "why": "a slip in print"}
    assert match(66, ours, paper_n=1342, **known) is Match.NOT_REPRODUCED
    # A known difference that isn't there must be struck from the list.
    assert match(66, ours, paper_n=1343, **known) is Match.MISMATCH


def test_reasons_and_counts_are_asked_for():
    with pytest.raises(ValidationError, match="say why"):
        Cell("x", 1, None)
    with pytest.raises(ValidationError, match="say why"):
        Cell("x", 1, 2, known=True)
    with pytest.raises(ValidationError, match="give `ours` as an Estimate"):
        Cell("x", 1, 1.0, paper_n=3)
    with pytest.raises(ValidationError, match="needs cells"):
        PaperTable("A paper", "Table 1", [])
    with pytest.raises(ValidationError, match="basis is 'guess'"):
        PaperTable("A paper", "Table 1", [Cell("x", 1, 1)], basis="guess")


@given(st.floats(0, 1), st.integers(0, 4))
def test_a_value_matches_its_own_rounding(value, decimals):
    for scale in (1, 100):
        paper = round(value * scale, decimals)
        cell = Cell("x", paper, value, decimals=decimals, scale=scale)
        assert cell.match is Match.EXACT
        far = Cell("x", paper + 2 * 10.0**-decimals, value, decimals, scale=scale)
        assert far.match is Match.MISMATCH


class Outline(HTMLParser):
    """Tags with their attributes, and the text of every cell by row."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.caption = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "caption" and not self.rows:
            self.caption += data
        elif self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


def test_the_html_is_a_table_with_caption_and_scopes():
    cells = [
        Cell(
            "a < b & c",
            66,
            Estimate(0.662, 0.61, 0.71, 90, "Wilson"),
            scale=100,
            paper_n=90,
        ),
        Cell(
            "hidden",
            87,
            None,
            scale=100,
            why="not public",
            interval=Estimate(0.87, 0.8, 0.9, 9, "Wilson"),
        ),
    ]
    table = PaperTable("A <paper>", "Table 1", cells, unit="%")
    outline = Outline(table._repr_html_())
    assert outline.caption.strip() == (
        "A <paper>, Table 1 (recomputed): 1 figure checked, 1 exact; "
        "1 not reproducible here. Unit: %."
    )
    scopes = [attrs["scope"] for tag, attrs in outline.tags if tag == "th"]
    assert scopes == ["col"] * (len(COLUMNS) - 1) + ["row"] * len(cells)
    assert outline.rows[0] == [*COLUMNS[:-1]]
    given = ["66 (n = 90)", "66.2 (n = 90)", "61.0 to 71.0", "+0.2", "exact"]
    assert outline.rows[1] == ["a < b & c", *given]
    # The reason stands below, under the number beside the verdict.
    hidden = ["87", "—", "80.0 to 90.0", "—", "not reproducible here 1"]
    assert outline.rows[2][:5] == ["hidden", *hidden[:4]]
    assert outline.rows[2][5].startswith(hidden[4])
    assert '<ol class="paper-notes"><li>not public</li></ol>' in table._repr_html_()


def test_text_and_html_say_the_same():
    cells = [Cell("x", 66, 0.662, scale=100), Cell("y", 1, None, why="lost")]
    table = PaperTable("A paper", "Table 1", cells)
    lines = repr(table).splitlines()
    assert lines[0] == table.caption
    assert lines[1].split(" | ")[:3] == ["x", "66", "66.2"]
    assert lines[2].endswith("| lost")


def test_a_summary_says_nothing_of_zeros():
    assert summary({Match.EXACT: 1}) == "1 figure checked, 1 exact"
    assert summary({Match.NOT_REPRODUCIBLE: 2}) == (
        "0 figures checked; 2 not reproducible here"
    )

"""The textbook values: every printed figure comes out, and a wrong one is noticed."""

import numpy as np

from judgelab.papers import textbook
from judgelab.papertable import Cell, Match


def test_every_printed_value_is_reproduced():
    cells = [cell for table in textbook.reproduce() for cell in table.cells]
    assert [cell.name for cell in cells if cell.match is not Match.EXACT] == []
    assert len(cells) == 13


def test_every_value_has_an_interval_around_it():
    for table in textbook.reproduce():
        for cell in table.cells:
            assert cell.ours.low < cell.ours.value < cell.ours.high


def test_the_look_alike_of_ordinal_alpha_would_be_noticed():
    assert Cell("alpha, ordinal", 0.815, 0.834, 3).match is Match.MISMATCH


def test_the_examples_have_the_published_shapes():
    assert textbook.JURY.shape == (12, 4)
    assert np.isnan(textbook.JURY).sum() == 7
    assert (textbook.BOXES.sum(axis=1) == 14).all()
    assert textbook.SCORES.shape == (6, 4)
    assert textbook.BALANCED.trace() == textbook.MOSTLY_YES.trace() == 85

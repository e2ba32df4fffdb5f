"""README.md says what the package says today."""

from pathlib import Path

import pytest

from judgelab.errors import ValidationError
from judgelab.teach.readme import filled

README = Path(__file__).parent.parent / "README.md"


def test_tables_are_todays():
    text = README.read_text("utf-8")
    assert filled(text) == text, "run: python -m judgelab.teach.readme README.md"


def test_a_lost_mark_is_named():
    with pytest.raises(ValidationError, match="<!-- chapters -->"):
        filled("no marks here")

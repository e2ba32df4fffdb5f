"""Exercises, quizzes, terms, symbols, glued numbers and the *paper / ours* table."""

from judgelab.papertable import PaperTable
from judgelab.teach.exercises import check, exercise
from judgelab.teach.gluing import glue
from judgelab.teach.notation import symbols
from judgelab.teach.quizzes import quiz, takeaways
from judgelab.teach.reproduction import ledger
from judgelab.teach.terms import term

__all__ = [
    "PaperTable",
    "check",
    "exercise",
    "glue",
    "ledger",
    "quiz",
    "symbols",
    "takeaways",
    "term",
]

"""From a reply to a verdict: strict first, then tolerant, never guessing.

A prompt asks for its label in one of three forms, and a reply is read in that form:

- *bare*: the reply is the label and nothing else;
- *marked*: the reply may say more and ends with the label in double square brackets;
- *JSON*: the reply is one JSON object whose ``verdict`` is the label.

A reply that keeps to the form is read strictly. A reply that does not is read by the
tolerant rules below, each of which asks for a label that was plainly *stated*; and all
labels that were stated, strictly or not, must be one and the same. Everything else is
invalid for one of the reasons in `Reason`, which `reasons` counts.

The tolerant rules:

1. *Dress does not matter.* Quotes, asterisks, brackets and a full stop around a label,
   upper or lower case, full-width letters; ``Answer A`` or ``Assistant A`` for ``A``;
   ``tie`` where a label means a tie; ``7/10``, ``7 out of 10`` or ``7.0`` for ``7`` on
   a scale that ends at 10.
2. *A line of its own* (bare form). On the first or the last line stands the label alone
   or with "is better" and no more, and an explanation on the others. A first line that
   goes on after the label ("A. The first …") states nothing, and contradicts another
   label.
3. *Double brackets* anywhere, unless the clause around them doubts: it asks, or has a
   word such as "not", "or", "if", "would"; or it says that the label is something else
   than the verdict: "the worse answer is", "I reject", "for example" before it, "loses"
   after it.
4. *Announced.* At the beginning of a sentence stand "Verdict", "Winner", "Decision",
   "Grade", "The better answer" and the like with "is" or a colon, the label follows at
   once, and with it the sentence ends or goes on with "because". "The answer is B" does
   not count: a question with lettered options, or one whose answer is a number, has an
   answer that is no verdict.
5. *Thinking aloud* between ``<think>`` and ``</think>`` at the beginning is skipped.
6. *JSON in a fence* or between other words, which are read as those around double
   brackets are; further keys, a whole number in quotes.

What is taken back is not stated: after the last label there may be no "Correction",
"Wait", "Actually", "I meant" and the like, and nowhere a sentence that does no more
than call another one better.

So "A is better than B in style" states nothing, "INCORRECT" does not contain "CORRECT",
and a reply that was cut at the token limit is invalid even if a label stands in it: the
rest might have taken it back.
"""

from __future__ import annotations

from judgelab.models.parse.first_token import LEAST_MASS, FirstToken, from_first_token
from judgelab.models.parse.json_reply import (
    RepeatedField,
    one_json_object,
    parse_json,
)
from judgelab.models.parse.labels import check_labels, parse_label
from judgelab.models.parse.outcome import Meaning, Parsed, Reason, reasons

__all__ = [
    "LEAST_MASS",
    "FirstToken",
    "Meaning",
    "Parsed",
    "Reason",
    "RepeatedField",
    "check_labels",
    "from_first_token",
    "one_json_object",
    "parse_json",
    "parse_label",
    "reasons",
]

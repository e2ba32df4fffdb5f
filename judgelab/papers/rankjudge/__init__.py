"""RankJudge (arXiv:2605.21748): make a benchmark for judges, run it, rank, audit.

From documents to a ranking: `read_documents`, `candidates`, `generate`, `verify`,
`judge_pairs`, `grades`, `curate`; all in one: `run`. What it asks beside the ranking is
in `class_bias`, `frontier`, `difficulty_by`, `rank_agreement`, `self_preference`,
`prompts_compared`, `orders_compared`; the audit in `Audit`; what the paper printed, and
what comes out again, in `reproduce`.
"""

from __future__ import annotations

from judgelab.papers.rankjudge.asking import Ask
from judgelab.papers.rankjudge.audit import (
    ANSWERS,
    CHECKS,
    Audit,
    Case,
    Entry,
    cases,
    label_of,
    load_cases,
)
from judgelab.papers.rankjudge.compare import (
    RankAgreement,
    class_bias,
    frontier,
    mean_use,
    orders_compared,
    prompts_compared,
    rank_agreement,
    self_preference,
    to_records,
)
from judgelab.papers.rankjudge.curate import (
    Curation,
    curate,
    cut_size,
    difficulty_by,
    leaderboard,
)
from judgelab.papers.rankjudge.generate import (
    Candidate,
    Conditions,
    Fate,
    candidates,
    generate,
    read_documents,
    sample,
)
from judgelab.papers.rankjudge.grade import (
    Grades,
    grades,
    grades_alone,
    rules_compared,
)
from judgelab.papers.rankjudge.judging import (
    ADVICE,
    Grade,
    grade_alone,
    judge_pairs,
    read_match,
    wording,
)
from judgelab.papers.rankjudge.pipeline import Benchmark, asking, run
from judgelab.papers.rankjudge.published import (
    before_cut,
    difficulties,
    domains_centred,
    reproduce,
)
from judgelab.papers.rankjudge.released import (
    released_matches,
    released_pairs,
    reproduce_from,
)
from judgelab.papers.rankjudge.schema import (
    Document,
    Item,
    Match,
    Verification,
    as_json,
    load,
    pair_id,
    read,
    save,
)
from judgelab.papers.rankjudge.scripted import (
    BREAKS_INSTRUCTION,
    LABEL,
    PANEL,
    WRITER,
    Scripted,
)
from judgelab.papers.rankjudge.simulated import (
    Panel,
    Recovery,
    recover,
    simulate_panel,
)
from judgelab.papers.rankjudge.taxonomy import (
    FAILURES,
    ROUNDS,
    USER_BEHAVIORS,
    Failure,
    failure_of,
    weights,
)
from judgelab.papers.rankjudge.verify import losses, survival, survivors, verify

__all__ = [
    "ADVICE",
    "ANSWERS",
    "BREAKS_INSTRUCTION",
    "CHECKS",
    "FAILURES",
    "LABEL",
    "PANEL",
    "ROUNDS",
    "USER_BEHAVIORS",
    "WRITER",
    "Ask",
    "Audit",
    "Benchmark",
    "Candidate",
    "Case",
    "Conditions",
    "Curation",
    "Document",
    "Entry",
    "Failure",
    "Fate",
    "Grade",
    "Grades",
    "Item",
    "Match",
    "Panel",
    "RankAgreement",
    "Recovery",
    "Scripted",
    "Verification",
    "as_json",
    "asking",
    "before_cut",
    "candidates",
    "cases",
    "class_bias",
    "curate",
    "cut_size",
    "difficulties",
    "difficulty_by",
    "domains_centred",
    "failure_of",
    "frontier",
    "generate",
    "grade_alone",
    "grades",
    "grades_alone",
    "judge_pairs",
    "label_of",
    "leaderboard",
    "load",
    "load_cases",
    "losses",
    "mean_use",
    "orders_compared",
    "pair_id",
    "prompts_compared",
    "rank_agreement",
    "read",
    "read_documents",
    "read_match",
    "recover",
    "released_matches",
    "released_pairs",
    "reproduce",
    "reproduce_from",
    "rules_compared",
    "run",
    "sample",
    "save",
    "self_preference",
    "simulate_panel",
    "survival",
    "survivors",
    "to_records",
    "verify",
    "weights",
    "wording",
]

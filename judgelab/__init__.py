"""judgelab: can a language model be trusted as a judge, and how sure are we?

The public names, in the order in which a reader of the book meets them. Each is
imported when it is first used, so that ``import judgelab`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Estimate": "estimate",
    "Verdict": "verdict",
    "read": "records",
    "scan": "records",
    "check_ratings": "records",
    "contingency_table": "counts",
    "category_counts": "counts",
    "joint_counts": "counts",
    "vote_patterns": "counts",
    "percent_agreement": "agreement",
    "cohen_kappa": "agreement",
    "scott_pi": "agreement",
    "gwet_ac1": "agreement",
    "gwet_ac2": "agreement",
    "brennan_prediger": "agreement",
    "fleiss_kappa": "agreement",
    "randolph_kappa": "agreement",
    "krippendorff_alpha": "agreement",
    "icc": "agreement",
    "items_for_kappa": "planning",
    "unswap": "verdict",
    "check_pairwise": "records",
    "two_order_tables": "counts",
    "Outcome": "verdict",
    "Rule": "verdict",
    "RULES": "verdict",
    "combine": "verdict",
    "rules_side_by_side": "verdict",
    "position_consistency": "position",
    "slot_share": "position",
    "slot_lean": "position",
    "nudge": "position",
    "preference_fairness": "position",
    "lean_test": "position",
    "pcon_at_ab": "position",
    "verdict_rate": "position",
    "repetition_stability": "position",
    "pair_orders": "position",
    "Judge": "simulate",
    "draw_pairs": "simulate",
    "diagnose": "probes",
    "sign_flip_test": "significance",
    "score_two_orders": "position",
    "binomial_test": "significance",
    "mcnemar": "significance",
    "paired_difference": "significance",
    "holm": "significance",
    "items_for_proportion": "planning",
    "items_for_power": "planning",
    "win_rate": "ranking",
    "average_win_rate": "ranking",
    "elo": "ranking",
    "elo_orders": "ranking",
    "bradley_terry": "ranking",
    "Ranking": "ranking",
    "rasch": "ranking",
    "Rasch": "ranking",
    "item_difficulty": "ranking",
    "walk": "ranking",
    "pagerank": "ranking",
    "kendall_tau": "correlation",
    "kendall_tau_table": "correlation",
    "spearman_rho": "correlation",
    "pearson_r": "correlation",
    "weighted_tau": "correlation",
    "tau_ap": "correlation",
    "rank_biased_overlap": "correlation",
    "average_overlap": "correlation",
    "top_k_overlap": "correlation",
    "best_first": "correlation",
    "over_topics": "correlation",
    "items_for_width": "planning",
    "battles_for_difference": "planning",
    "ranking_stability": "planning",
    "agreement_values": "agreement",
    "swap_test": "significance",
    "correlation_difference": "correlation",
    "SideBySide": "verdict",
    "homogeneity_test": "significance",
    "marginal_homogeneity": "significance",
    "average_orders": "position",
    "mean_lean": "position",
    "at_threshold": "position",
    "right_verdicts": "position",
    "settled_labels": "correction",
    "correction_counts": "correction",
    "sensitivity_and_specificity": "correction",
    "rogan_gladen": "correction",
    "prediction_powered_share": "correction",
    "prediction_powered_mean": "correction",
    "n_labels_for_width": "correction",
    "report": "reporting",
}
_ROOMS = (
    "agreement",
    "cli",
    "correction",
    "correlation",
    "counts",
    "data",
    "errors",
    "estimate",
    "explore",
    "intervals",
    "models",
    "papers",
    "papertable",
    "planning",
    "plots",
    "position",
    "probes",
    "ranking",
    "readers",
    "records",
    "reporting",
    "significance",
    "simulate",
    "teach",
    "verdict",
)

__all__ = ["__version__", *_HOME, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"judgelab.{_HOME[name]}"), name)
    if name in _ROOMS:
        return import_module(f"judgelab.{name}")
    raise AttributeError(f"module 'judgelab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

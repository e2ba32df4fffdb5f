"""Who is better, and how sure are we?

Games between two players (`bradley_terry`), answers of judges to items (`rasch`), and
the ratings that people compare them with: online `elo`, random walks, counted wins.
"""

from judgelab.ranking.judge_by_item import Rasch, item_difficulty, rasch
from judgelab.ranking.online import elo, elo_orders
from judgelab.ranking.paired import bradley_terry
from judgelab.ranking.rates import average_win_rate, win_rate
from judgelab.ranking.result import Ranking
from judgelab.ranking.walks import Walk, pagerank, walk

__all__ = [
    "Ranking",
    "Rasch",
    "Walk",
    "average_win_rate",
    "bradley_terry",
    "elo",
    "elo_orders",
    "item_difficulty",
    "pagerank",
    "rasch",
    "walk",
    "win_rate",
]

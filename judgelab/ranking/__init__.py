"""Who is better, and how sure are we?"""

from judgelab.ranking.paired import bradley_terry
from judgelab.ranking.result import Ranking

__all__ = ["Ranking", "bradley_terry"]

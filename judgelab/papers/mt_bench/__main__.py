"""Write the shipped counts anew: python -m judgelab.papers.mt_bench <folder>."""

import sys
from pathlib import Path

from judgelab.papers.mt_bench.counts import write_counts

write_counts(Path(sys.argv[1]))

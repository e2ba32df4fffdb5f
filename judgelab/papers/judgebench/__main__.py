"""Write the shipped counts anew: python -m judgelab.papers.judgebench <folder>."""

import sys
from pathlib import Path

from judgelab.papers.judgebench.counts import write_counts

write_counts(Path(sys.argv[1]))

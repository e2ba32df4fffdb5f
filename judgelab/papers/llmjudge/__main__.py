"""Write the shipped counts anew: python -m judgelab.papers.llmjudge <folder>."""

import sys
from pathlib import Path

from judgelab.papers.llmjudge.reproduction import write_counts

write_counts(Path(sys.argv[1]))

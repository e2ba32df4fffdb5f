"""Let ``python -m judgelab`` be the command line."""

from judgelab.cli import main

main()

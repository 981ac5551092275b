"""For `python -m checker.cli`."""

from checker.cli import main

main()

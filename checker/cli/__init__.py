"""The command line. `main` is what the console script `tidegauge` calls."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command in `sys.argv` and end the process with its exit code."""
    from checker.cli.application import run

    sys.exit(run(sys.argv[1:]))

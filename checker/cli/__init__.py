"""The command line. `main` is what the console script `tidegauge` calls."""

from __future__ import annotations

import gc
import sys
from typing import Final, NoReturn

#: So many new objects are worth a look for garbage. By itself Python looks after 700, and a command that stages, proves
#: and compiles makes millions that stay: a twentieth of its time would go into looking.
WORTH_COLLECTING: Final = 100_000


def main() -> NoReturn:
    """Run the command in `sys.argv` and end the process with its exit code."""
    gc.set_threshold(WORTH_COLLECTING)
    from checker.cli.application import run

    sys.exit(run(sys.argv[1:]))

"""For `python -m checker.cli`."""

from checker.cli import main

if __name__ == "__main__":  # processes that compare starts import this file as well
    main()

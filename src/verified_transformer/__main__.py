"""`python -m verified_transformer`: see `verified_transformer.commands`."""

import sys

from .commands.line import main

if __name__ == "__main__":
    sys.exit(main())

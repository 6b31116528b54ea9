"""`python -m verified_transformer`: see `verified_transformer.engine.commands`."""

import sys

from .engine.commands.line import main

if __name__ == "__main__":
    sys.exit(main())

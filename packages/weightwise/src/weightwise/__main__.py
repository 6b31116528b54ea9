"""``python -m weightwise``: why a model starts as it does, and a wider checkpoint."""

import sys

from .command_line import main

if __name__ == "__main__":
    sys.exit(main())

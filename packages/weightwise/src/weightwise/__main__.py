"""``python -m weightwise``: the first loss of a configuration, and a wider checkpoint."""

import sys

from .command_line import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m verifiedbook`: see `verifiedbook.commands`."""

import os
import signal
import sys

from .commands.command_line import main


def interrupted(*_: object) -> None:
    """End now, in one line: threads would first run their notebooks to the end.

    Kernels end with this process, and files are written whole or not at all.
    """
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(130)  # 128 + SIGINT


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    sys.exit(main())

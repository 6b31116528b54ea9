"""`python -m verified_transformer`: see `verified_transformer.engine.commands`."""

import os
import signal
import sys


def interrupted(*_: object) -> None:
    """End now, in one line: threads would first run their notebooks to the end.

    Kernels end with this process, and files are written whole or not at all.
    """
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(130)  # 128 + SIGINT


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    if sys.argv[1:2] in (["initial-loss"], ["widen"]):  # as they were called before they left
        from weightwise.command_line import main
    else:
        from .engine.commands.command_line import main
    sys.exit(main())

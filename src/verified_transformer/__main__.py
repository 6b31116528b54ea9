"""`python -m verified_transformer`: see `verifiedbook.commands`."""

import signal
import sys

from verifiedbook.__main__ import interrupted

if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    if sys.argv[1:2] in (["initial-loss"], ["widen"]):  # as they were called before they left
        from weightwise.command_line import main
    else:
        from verifiedbook.commands.command_line import main
    sys.exit(main())

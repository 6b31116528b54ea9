"""`verified-transformer`, `python -m verified_transformer`: see `verifiedbook.commands`."""

import signal
import sys

from verifiedbook.__main__ import interrupted


def main() -> int:
    """Run the command that the words after the program name; those of models are weightwise's."""
    signal.signal(signal.SIGINT, interrupted)
    if sys.argv[1:2] in (["why"], ["initial-loss"], ["widen"]):
        from weightwise.command_line import main
    else:
        from verifiedbook.commands.command_line import main
    return main()


if __name__ == "__main__":
    sys.exit(main())

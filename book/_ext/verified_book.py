"""`verifiedbook.sphinx`, which shows verdicts, with our sources found: none need be installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
sys.path.insert(0, str(Path(__file__).parents[2] / "packages/weightwise/src"))
sys.path.insert(0, str(Path(__file__).parents[2] / "packages/verifiedbook/src"))

from verifiedbook.sphinx import setup

__all__ = ["setup"]

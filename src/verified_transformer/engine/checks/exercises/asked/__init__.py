"""All functions that exercises ask for, by name."""

from __future__ import annotations

from ..problem import Problem
from . import chapter_1, chapter_2, chapter_3, chapter_4, chapter_5

__all__ = ["PROBLEMS"]

PROBLEMS: dict[str, Problem] = {
    name: problem
    for chapter in (chapter_1, chapter_2, chapter_3, chapter_4, chapter_5)
    for name, problem in chapter.PROBLEMS.items()
}

"""How often a word follows itself: a few openings of books that everybody may quote."""

from __future__ import annotations

import re
from itertools import pairwise

TEXTS = {
    "Genesis (1611)": """In the beginning God created the heaven and the earth. And the earth was
without form, and void; and darkness was upon the face of the deep. And the Spirit of God moved
upon the face of the waters. And God said, Let there be light: and there was light. And God saw
the light, that it was good: and God divided the light from the darkness. And God called the
light Day, and the darkness he called Night. And the evening and the morning were the first day.""",
    "Pride and Prejudice (1813)": """It is a truth universally acknowledged, that a single man in
possession of a good fortune, must be in want of a wife. However little known the feelings or
views of such a man may be on his first entering a neighbourhood, this truth is so well fixed in
the minds of the surrounding families, that he is considered as the rightful property of some one
or other of their daughters.""",
    "Moby-Dick (1851)": """Call me Ishmael. Some years ago, never mind how long precisely, having
little or no money in my purse, and nothing particular to interest me on shore, I thought I would
sail about a little and see the watery part of the world. It is a way I have of driving off the
spleen and regulating the circulation.""",
    "Gettysburg Address (1863)": """Four score and seven years ago our fathers brought forth on
this continent, a new nation, conceived in Liberty, and dedicated to the proposition that all men
are created equal. Now we are engaged in a great civil war, testing whether that nation, or any
nation so conceived and so dedicated, can long endure. We are met on a great battle-field of that
war.""",
    "The Analects": """子曰：「學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？」
有子曰：「其為人也孝弟，而好犯上者，鮮矣；不好犯上，而好作亂者，未之有也。君子務本，本立而道生。
孝弟也者，其為仁之本與！」子曰：「巧言令色，鮮矣仁！」""",  # noqa: E501
    "Kong Yiji (1919)": """鲁镇的酒店的格局，是和别处不同的：都是当街一个曲尺形的大柜台，柜里面预备着热水，
可以随时温酒。做工的人，傍午傍晚散了工，每每花四文铜钱，买一碗酒，——这是二十多年前的事，现在每碗要涨到十文，
——靠柜外站着，热热的喝了休息；""",  # noqa: E501
}

SPRING = """小草偷偷地从土里钻出来，嫩嫩的，绿绿的。园子里，田野里，瞧去，一大片一大片满是的。
坐着，躺着，打两个滚，踢几脚球，赛几趟跑，捉几回迷藏。风轻悄悄的，草软绵绵的。"""


def repeats(text: str) -> tuple[int, int]:
    """Return how many words (in Chinese: characters) follow themselves, and of how many.

    Args:
        text: in any mixture of the two scripts; punctuation counts as a word.

    Example:
        >>> repeats("Well, well: very very good.")
        (1, 7)
    """
    found = re.findall(r"[A-Za-z]+|\w|[^\w\s]+", text.lower())
    return sum(p == q for p, q in pairwise(found)), len(found) - 1

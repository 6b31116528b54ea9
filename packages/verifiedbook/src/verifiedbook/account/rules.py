"""Rules that the claims files keep, and what is said where one is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Refuse = Callable[[str], Exception]  # makes the error of a broken rule, which names file and claim


class RegistryError(ValueError):
    """A claims file breaks a rule; the message names file, claim and rule."""


def check_rules(refuse: Refuse, rules: Mapping[str, object]) -> None:
    """Refuse what breaks a rule.

    Args:
        refuse: makes the error.
        rules: by what is said then, something that is true where the rule is broken.

    Raises:
        Exception: the one that ``refuse`` makes, of the first rule that is broken.
    """
    for said, broken in rules.items():
        if broken:
            raise refuse(said)

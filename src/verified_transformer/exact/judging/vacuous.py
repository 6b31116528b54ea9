"""Things without members, of which every statement is true."""

from __future__ import annotations


def refuse_nothing(**things: object) -> None:
    """Refuse things that are empty: a predicate on all of their members would hold of none.

    Args:
        things: by the name of the argument.

    Raises:
        ValueError: one of them has no members.

    Example:
        >>> refuse_nothing(on=[1], not_on=2)
    """
    for name, thing in things.items():
        if isinstance(thing, list | tuple | dict | set | str) and not thing:
            raise ValueError(f"{name}: got {thing!r}; accepted: a thing that has members")

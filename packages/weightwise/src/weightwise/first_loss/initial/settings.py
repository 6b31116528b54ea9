"""The settings of a configuration, each refused by its name where it is missing or unknown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .activations import ACTIVATIONS

MISSPELT = 0.9  # no setting of a class that is known is so near to another


class Settings:
    """The settings of a configuration: an object of transformers, a dictionary or a JSON file."""

    def __init__(self, given: Any) -> None:
        if isinstance(given, str | Path):
            path = Path(given)
            given = _read(path / "config.json" if path.is_dir() else path)
        if not isinstance(given, Mapping):
            tied = getattr(given, "tie_word_embeddings", None)
            given = {**given.to_dict(), "tie_word_embeddings": tied}
        if "text_config" in given and isinstance(given["text_config"], Mapping):
            given = {**given["text_config"], "model_type": given.get("model_type")}
        self.given: Mapping[str, Any] = given
        self.asked = {"model_type"}

    def get(self, *names: str, default: Any = None) -> Any:
        """The first of some settings that is given."""
        self.asked.update(names)
        return next((self.given[n] for n in names if self.given.get(n) is not None), default)

    def or_null(self, name: str, default: Any = None) -> Any:
        """A setting of which null says something: that the class's default is off."""
        self.asked.add(name)
        return self.given.get(name, default)

    def need(self, *names: str) -> Any:
        """The same, refused where none is given."""
        found = self.get(*names)
        if found is None:
            what = " or ".join(names)
            raise ValueError(f"model_or_config: got no {what}; accepted: a configuration with it")
        return found

    def whole(self, *names: str) -> int:
        """A positive whole number that is needed."""
        found = self.need(*names)
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            got = f"{names[0]} = {found!r}"
            raise ValueError(f"model_or_config: got {got}; accepted: a positive whole number")
        return found

    def deviation(self, *names: str, default: float) -> float:
        """A standard deviation."""
        found = self.get(*names, default=default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < 1e3:
            got = f"{names[0]} = {found!r}"
            raise ValueError(f"model_or_config: got {got}; accepted: a positive number")
        return float(found)

    def activation(self, *names: str, default: str) -> str:
        """The name of an activation that is known."""
        found = self.get(*names, default=default)
        if found not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise ValueError(f"model_or_config: got {names[0]} = {found!r}; accepted: {known}")
        return str(found)

    def unread(self) -> tuple[str, ...]:
        """Settings that nobody asked for; refused where one asked for is spelt nearly like that."""
        given = {name for name in self.given if not str(name).startswith("_")}
        found = sorted(given - self.asked)
        for name in found:
            for meant in get_close_matches(name, self.asked - self.given.keys(), 1, MISSPELT):
                raise ValueError(f"model_or_config: got {name}; accepted: {meant}")
        return tuple(found)

    def refuse(self, **wanted: Any) -> None:
        """Refuse settings that change the body in a way that no recipe knows."""
        for name, value in wanted.items():
            got = self.get(name, default=value)
            if got != value:
                raise ValueError(f"model_or_config: got {name} = {got!r}; accepted: {value!r}")


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        accepted = "the path of a config.json, or of a folder that holds one"
        raise ValueError(
            f"model_or_config: got {str(path)!r} ({error}); accepted: {accepted}"
        ) from None
    if not isinstance(found, Mapping):
        raise ValueError(
            f"model_or_config: got a {type(found).__name__} in {path}; accepted: {{…}}"
        )
    return found

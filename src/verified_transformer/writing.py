"""Files written whole or not at all: `verifiedbook.writing`, under the name that it had in here."""

from verifiedbook.writing import write_whole

__all__ = ["write_whole"]

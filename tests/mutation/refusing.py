"""What refuses a changed claims file before anything runs: the registry, and the gates on prose.

Run in a process of its own, because both keep what they have read.
"""

from __future__ import annotations

import sys

import notebook_gates

from verified_transformer.account import ledger, registry


def main(chapter: str) -> int:
    """Print what is wrong with the registry, or with the prose of a chapter that rests on it."""
    try:
        registry.load()
    except (registry.RegistryError, ValueError) as error:
        print(error)
        return 1
    found = []
    for notebook in ledger.notebooks(notebook_gates.ROOT):
        if chapter in ("book", notebook.parent.name[0]):
            for gate in (*notebook_gates.GATES, notebook_gates.ownerless_prose):
                if gate is not notebook_gates.stale_records:  # by its fingerprint, always
                    found += gate(notebook)
    for page in sorted((notebook_gates.ROOT / "book").glob("*.md")):
        for gate in (*notebook_gates.PROSE_GATES, notebook_gates.ownerless_prose):
            found += gate(page)
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))

"""Quotations looked up in packages of the Python index, which nobody needs to install.

What is quoted from code stands in the file of a release: the release is fetched, the words and what
stands around them are looked up, and what was found is kept. A quotation that changes afterwards is
red until somebody looks again.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

from ..account import registry
from ..account.citations import Citation, stands_in
from ..account.hashing import hash_of
from .status import kept, provenance, write_status


def sources(root: Path) -> int:
    """Fetch every archive that a citation names, look the words up, and keep what was found."""
    quoted: dict[str, list[tuple[str, str, Citation]]] = {}
    for name, citation in archived():
        release, file = str(citation.archive).split()
        quoted.setdefault(release, []).append((name, file, citation))
    found: dict[str, str] = {}
    missing = 0
    for release, citations in sorted(quoted.items()):
        texts = fetched(release, [file for _, file, _ in citations])
        for name, file, citation in citations:
            there = stands_in(citation.around or citation.quote, texts.get(file, ""))
            print(f"{'found    ' if there else 'NOT FOUND'} {name} in {citation.archive}")
            missing += not there
            if there:
                found[hash_of_quotation(name, citation)] = f"{name} in {citation.archive}"
    entries = dict(sorted(found.items(), key=lambda item: item[1]))
    print(write_status(root, "sources", {"found": entries, **provenance(root)}))
    return int(bool(missing))


def archived() -> Iterator[tuple[str, Citation]]:
    """Yield the citations that name an archive, each with its claim and source."""
    for id, statement in registry.load()[1].items():
        for part in statement.reading.parts.values() if statement.reading else ():
            for citation in part.citations:
                if citation.archive:
                    yield f"{id} {citation.key}", citation


def unlooked(root: Path) -> list[str]:
    """Say which quotations nobody has looked up as they stand now."""
    known = kept(root, "sources", "found")
    return [
        f"{name}: “{citation.quote}”: make sources looks it up in {citation.archive}"
        for name, citation in archived()
        if hash_of_quotation(name, citation) not in known
    ]


def hash_of_quotation(name: str, citation: Citation) -> str:
    """Return the hash of a quotation, of what stands around it, and of where it was found."""
    said = (name, citation.quote, citation.around or "", str(citation.archive))
    return hash_of("\n".join(said), 16)


def fetched(release: str, files: Collection[str]) -> dict[str, str]:
    """Return the texts of some files of a release, by their paths in it; none that it has not.

    Args:
        release: such as ``mesh-tensorflow==0.1.21``.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
        subprocess.run([*command, release], check=True)
        (archive,) = Path(folder).iterdir()
        return {path: text for path, text in _texts(archive) if path in files}


def _texts(archive: Path) -> Iterator[tuple[str, str]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as whole:
            for path in whole.namelist():
                yield path, whole.read(path).decode("utf-8", "replace")
        return
    with tarfile.open(archive) as whole:
        for member in whole:
            if file := whole.extractfile(member):  # below the folder of the release
                yield member.name.partition("/")[2], file.read().decode("utf-8", "replace")

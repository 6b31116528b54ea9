"""What was said and what became of it: registry, records, verdicts, ledger; no SymPy, no torch.

- ``registry``, ``reading``, ``citations``, ``errata``, ``questions``, ``rules``: the files, read;
- `records`: what a check leaves; `code`: the key of what made it; ``recordings``, ``parts``: long
  experiments, kept as data;
- `verdicts`: what follows from records, and the lock on it; ``evidence``: what each kind weighs;
- ``ledger``, ``schema``: all of it, as the book publishes it; `rendering`: how it looks.
"""

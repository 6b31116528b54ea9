"""What a notebook calls to decide a claim.

``claim`` has the verbs, which stand in a module for each kind of evidence: ``by_derivation``,
``by_oracle``, ``by_measurement``, ``by_draws``, ``by_experiment``, ``by_sources``, and ``against``,
which speaks against a claim. ``subject`` says what is decided and keeps the record, ``what_ran``
which model it was.
"""

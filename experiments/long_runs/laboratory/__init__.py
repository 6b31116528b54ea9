"""The training laboratory: many small Transformers side by side, what they learn, and how.

`transformers` has the models, `tasks` the artificial language and the real text, `learning` the
optimiser with a rate for each run; the experiments of the wing choose the ways of training.
"""

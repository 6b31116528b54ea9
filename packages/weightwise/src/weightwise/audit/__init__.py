"""What each parameter was asked to start with, what it starts with, and whether they agree.

`rules` finds what was asked, with its address; `drawn` reads what is there and tests it;
`audit_init` (`auditing`) goes through a model.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

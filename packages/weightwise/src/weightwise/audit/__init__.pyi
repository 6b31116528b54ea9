from .auditing import Audit as Audit
from .auditing import Row as Row
from .auditing import audit_init as audit_init
from .drawn import Drawn as Drawn
from .rules import Asked as Asked

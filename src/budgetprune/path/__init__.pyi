from .budgets import (
    ROUNDING as ROUNDING,
)
from .budgets import (
    check_budget as check_budget,
)
from .budgets import (
    first_within as first_within,
)
from .budgets import (
    warn_that_budget_buys_nothing as warn_that_budget_buys_nothing,
)
from .decided import DecidedCosts as DecidedCosts
from .path import ARRAYS as ARRAYS
from .path import PruningPath as PruningPath
from .path import breakpoints as breakpoints

from .chain import Chain as Chain
from .chain import Stage as Stage
from .error_costs import (
    LARGEST_PRICE as LARGEST_PRICE,
)
from .error_costs import (
    check_error_costs as check_error_costs,
)
from .error_costs import (
    read_error_costs as read_error_costs,
)
from .join import join_forests as join_forests
from .join import take_trees as take_trees
from .links import link_of as link_of
from .links import log_shares as log_shares
from .links import probabilities as probabilities
from .objective import (
    ErrorCostObjective as ErrorCostObjective,
)
from .objective import (
    LogLossObjective as LogLossObjective,
)
from .objective import (
    Objective as Objective,
)
from .objective import (
    SquaredErrorObjective as SquaredErrorObjective,
)
from .staged_model import StagedModel as StagedModel
from .staged_model import StageShares as StageShares
from .tradeoff import StagedTradeOff as StagedTradeOff

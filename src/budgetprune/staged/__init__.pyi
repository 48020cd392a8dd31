from .estimators import BudgetClassifier as BudgetClassifier
from .estimators import BudgetRegressor as BudgetRegressor
from .learners import has_lightgbm as has_lightgbm
from .model import (
    Chain as Chain,
)
from .model import (
    LogLossObjective as LogLossObjective,
)
from .model import (
    SquaredErrorObjective as SquaredErrorObjective,
)
from .model import (
    StagedModel as StagedModel,
)
from .model import (
    StagedTradeOff as StagedTradeOff,
)
from .model import (
    StageShares as StageShares,
)
from .prediction import StagedEngine as StagedEngine
from .prediction import StagedPredictor as StagedPredictor
from .stopping import effective_thresholds as effective_thresholds
from .stopping import stopping_stage as stopping_stage
from .training import LAST_STAGE_FACTOR as LAST_STAGE_FACTOR

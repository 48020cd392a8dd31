from .costs import FeatureCosts as FeatureCosts
from .errors import (
    AcquisitionError as AcquisitionError,
)
from .errors import (
    BudgetPruneError as BudgetPruneError,
)
from .errors import (
    BudgetWarning as BudgetWarning,
)
from .errors import (
    InvalidInputError as InvalidInputError,
)
from .errors import (
    SolverError as SolverError,
)
from .errors import (
    UnsupportedModelError as UnsupportedModelError,
)
from .estimators import (
    BudgetPruneClassifier as BudgetPruneClassifier,
)
from .estimators import (
    BudgetPruneRegressor as BudgetPruneRegressor,
)
from .forest import Forest as Forest
from .model import BudgetModel as BudgetModel
from .path import PruningPath as PruningPath
from .predictor import BudgetPredictor as BudgetPredictor
from .predictor import Decision as Decision
from .predictor import Simulation as Simulation
from .problem import Certificate as Certificate
from .problem import Pruning as Pruning
from .problem import PruningProblem as PruningProblem
from .selection import TradeOff as TradeOff
from .staged import (
    BudgetClassifier as BudgetClassifier,
)
from .staged import (
    BudgetRegressor as BudgetRegressor,
)
from .staged import (
    StagedPredictor as StagedPredictor,
)
from .staged import (
    StagedTradeOff as StagedTradeOff,
)
from .utils.environment import __version__ as __version__
from .workflow import (
    FitOptions as FitOptions,
)
from .workflow import (
    PruneOptions as PruneOptions,
)
from .workflow import (
    fit_table as fit_table,
)
from .workflow import (
    predict_batches as predict_batches,
)
from .workflow import (
    predict_files as predict_files,
)
from .workflow import (
    prune_model as prune_model,
)

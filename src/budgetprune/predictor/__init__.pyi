from .bounds import StepResult as StepResult
from .checks import check_max_cost as check_max_cost
from .checks import check_number as check_number
from .decision import Decision as Decision
from .decision import Simulation as Simulation
from .kernels import (
    COMPLETE as COMPLETE,
)
from .kernels import (
    NO_LABEL as NO_LABEL,
)
from .kernels import (
    STOPPED as STOPPED,
)
from .kernels import (
    TOO_EXPENSIVE as TOO_EXPENSIVE,
)
from .kernels import (
    UNAVAILABLE as UNAVAILABLE,
)
from .kernels import (
    WAITING as WAITING,
)
from .predictor import NO_RESIDUALS as NO_RESIDUALS
from .predictor import SETTINGS as SETTINGS
from .predictor import BudgetPredictor as BudgetPredictor
from .predictor import Restorer as Restorer
from .residuals import RESIDUALS as RESIDUALS
from .residuals import Residuals as Residuals
from .residuals import check_level as check_level
from .rules import ORDERS as ORDERS
from .source_index import SourceIndex as SourceIndex

from .interpolation import interpolate_rules as interpolate_rules
from .lambdas import choose_lambdas as choose_lambdas
from .out_of_fold import OutOfFoldResults as OutOfFoldResults
from .out_of_fold import StoppingData as StoppingData
from .thresholds import (
    effective_thresholds as effective_thresholds,
)
from .thresholds import (
    learn_thresholds as learn_thresholds,
)
from .thresholds import (
    stopping_stage as stopping_stage,
)

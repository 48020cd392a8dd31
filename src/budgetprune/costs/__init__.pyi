from .cost_table import ROUNDING as ROUNDING
from .cost_table import CostTable as CostTable
from .cost_table import PricedSource as PricedSource
from .cost_table import check_cost_table as check_cost_table
from .feature_costs import FeatureCosts as FeatureCosts
from .price_lists import (
    PRICE_RANGE as PRICE_RANGE,
)
from .price_lists import (
    is_missing as is_missing,
)
from .price_lists import (
    is_pandas as is_pandas,
)
from .price_lists import (
    is_price as is_price,
)
from .price_lists import (
    join_first as join_first,
)

from .preprocessing import Preprocessing as Preprocessing
from .priced import PricedPreprocessing as PricedPreprocessing
from .raw_columns import as_numbers as as_numbers
from .raw_columns import as_objects as as_objects
from .raw_columns import is_missing as is_missing

from .external import split_columns as split_columns
from .pipelines import join_pipeline as join_pipeline
from .pipelines import split_pipeline as split_pipeline
from .preprocessing import Preprocessing as Preprocessing
from .priced import PricedPreprocessing as PricedPreprocessing
from .raw_columns import as_numbers as as_numbers
from .raw_columns import as_objects as as_objects
from .raw_columns import is_missing as is_missing

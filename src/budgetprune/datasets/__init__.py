"""Data sets of the paper, and others with feature prices.

Each ``load_*`` looks in `data_home`, if it is given; in the folder that the environment variable
``BUDGETPRUNE_DATA`` names; in ``budgetprune`` in scikit-learn's data home; and then downloads from the public
source, checks the data and stores them (in `data_home`, if it is given). Folders hold ``.npz`` files without
pickle (`X`, `y`, `feature_names`, and where they exist `split`, `qid`, `costs`, `groups`, `discount_costs`),
or the files of the public source as they are.
"""

from budgetprune.datasets.covertype import load_covertype
from budgetprune.datasets.dataset import TEST, TRAIN, VALIDATION, Dataset
from budgetprune.datasets.medical import load_heart, load_thyroid
from budgetprune.datasets.miniboone import load_miniboone, load_miniboone_tiny
from budgetprune.datasets.mq2008 import load_mq2008
from budgetprune.datasets.yahoo import YAHOO_PRICES, load_yahoo_costs, load_yahoo_ltr
from budgetprune.errors import DatasetError

__all__ = [
    "TEST",
    "TRAIN",
    "VALIDATION",
    "YAHOO_PRICES",
    "Dataset",
    "DatasetError",
    "load_covertype",
    "load_heart",
    "load_miniboone",
    "load_miniboone_tiny",
    "load_mq2008",
    "load_thyroid",
    "load_yahoo_costs",
    "load_yahoo_ltr",
]

from .about import About as About
from .about import ClassQuality as ClassQuality
from .about import Compared as Compared
from .about import Figures as Figures
from .about import Quality as Quality
from .model import BudgetModel as BudgetModel
from .model import about_of as about_of

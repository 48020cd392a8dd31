from .about import About as About
from .about import Compared as Compared
from .about import Figures as Figures
from .model import BudgetModel as BudgetModel

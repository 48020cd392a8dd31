"""Files of rows and price lists, as people have them: what is in a column, and what it costs."""

from budgetprune.tables._categories import Categories, learn_categories
from budgetprune.tables._columns import Columns, sort_columns
from budgetprune.tables._dividing import Divided, divide_table
from budgetprune.tables._fitting import names_of, read_table_for, rows_for, rows_like
from budgetprune.tables._prices import PricedColumns, price_list_template, read_price_list
from budgetprune.tables._reading import Table, read_table
from budgetprune.tables._target import Target, Task, check_varied, read_answers, read_target

__all__ = [
    "Categories",
    "Columns",
    "Divided",
    "PricedColumns",
    "Table",
    "Target",
    "Task",
    "check_varied",
    "divide_table",
    "learn_categories",
    "names_of",
    "price_list_template",
    "read_answers",
    "read_price_list",
    "read_table",
    "read_table_for",
    "read_target",
    "rows_for",
    "rows_like",
    "sort_columns",
]

"""Files of rows and price lists, as people have them: what is in a column, and what it costs."""

from budgetprune.workflow.tables.categories import Categories, learn_categories
from budgetprune.workflow.tables.columns import Columns, sort_columns
from budgetprune.workflow.tables.dividing import Divided, divide_table
from budgetprune.workflow.tables.fitting import names_of, read_table_for, rows_for, rows_like
from budgetprune.workflow.tables.prices import PricedColumns, price_list_template, read_price_list
from budgetprune.workflow.tables.reading import Table, read_table
from budgetprune.workflow.tables.target import Target, Task, check_varied, read_answers, read_target

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

"""Tables and price lists: reading, classification of columns, encoding of categories."""

from budgetprune.workflow.tables.categories import Categories, learn_categories
from budgetprune.workflow.tables.columns import Columns, classify_columns
from budgetprune.workflow.tables.matching import read_table_for, rows_for, rows_like
from budgetprune.workflow.tables.price_lists import (
    PriceList,
    price_list_of,
    price_list_template,
    read_price_list,
)
from budgetprune.workflow.tables.reading import MOST_COLUMNS, Table, open_table, read_table, table_name
from budgetprune.workflow.tables.splitting import SplitRows, split_table
from budgetprune.workflow.tables.target import (
    Target,
    Task,
    check_target,
    check_varied,
    encode_target,
    read_target,
    target_name,
)

__all__ = [
    "MOST_COLUMNS",
    "Categories",
    "Columns",
    "PriceList",
    "SplitRows",
    "Table",
    "Target",
    "Task",
    "check_target",
    "check_varied",
    "classify_columns",
    "encode_target",
    "learn_categories",
    "open_table",
    "price_list_of",
    "price_list_template",
    "read_price_list",
    "read_table",
    "read_table_for",
    "read_target",
    "rows_for",
    "rows_like",
    "split_table",
    "table_name",
    "target_name",
]

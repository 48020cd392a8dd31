"""Conversion of tables of other libraries to pandas."""

from __future__ import annotations

from typing import Any

from budgetprune.errors import InvalidInputError
from budgetprune.utils.extras import optional_import


def as_data_frame(table: Any, name: str = "X") -> Any:
    """Return an Arrow table, or anything else that exports Arrow data, as a pandas DataFrame.

    Relations of DuckDB are among them. Any other value, such as an array or a DataFrame of pandas or polars,
    is returned as it is.

    Parameters
    ----------
    table : any value
    name : what error messages call it
    """
    if not exports_arrow(table):
        return table
    with optional_import("Arrow tables", "cli"):
        import pandas  # noqa: F401
        import pyarrow as pa
    try:
        found = pa.table(table)
    except (pa.ArrowException, TypeError) as error:
        raise InvalidInputError(
            f"{name} exports Arrow data that is no table ({error}); give a table with a column per feature."
        ) from error
    # Decimals would become Python objects.
    fields = [
        field.with_type(pa.float64()) if pa.types.is_decimal(field.type) else field for field in found.schema
    ]
    return found.cast(pa.schema(fields, found.schema.metadata)).to_pandas()


def exports_arrow(table: Any) -> bool:
    """Whether a value exports Arrow data and is not of pandas or polars, which are read directly."""
    if type(table).__module__.partition(".")[0] in ("pandas", "polars"):
        return False
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")

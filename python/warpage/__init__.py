# SPDX-License-Identifier: Apache-2.0
"""Group-by on tables in memory, by Warpage's operators.

    import warpage
    groups = warpage.groupby(table, ["user"], ["count", "sum:price"])

A table is anything that speaks the Arrow C data interface (pyarrow, Polars, DuckDB, pandas), a LazyFrame of Polars, a
dict of arrays (NumPy's, array.array, anything with a buffer), Series or lists, or paths of files. Columns of arrays are not
copied. The result speaks that interface, too: pyarrow.table(groups), polars.DataFrame(groups); or groups.to_dict(),
to_numpy(), to_arrow(), to_polars(), to_pandas(); groups["sum_price"] is a column, groups[0] a row, and a loop takes rows.

>>> import warpage
>>> groups = warpage.groupby({"item": ["tea", "oil", "tea"], "price": [3, 5, None]}, "item", ["count", "sum:price"])
>>> groups
item  count  sum_price
oil       1          5
tea       2          3
[2 rows]
>>> groups.to_dict()["sum_price"]
[5, 3]
>>> warpage.groupby({"item": ["tea"]}, "itm")
Traceback (most recent call last):
warpage.native.ColumnError: the table has no column 'itm'; did you mean 'item'?
"""
from warpage.command import compare, run
from warpage.operators import groupby, merge
from warpage.groups import Groups
from warpage.hash_table import Table
from warpage.native import (ArgumentError, ColumnError, DeviceError, FileError, OutOfMemoryError, SumError, TableTypeError, WarpageError,
                            __version__)
from warpage.sampling import Sample, sample

__all__ = ["groupby", "merge", "sample", "Sample", "run", "compare", "Groups", "Table", "WarpageError", "ArgumentError",
           "ColumnError", "DeviceError", "FileError", "OutOfMemoryError", "SumError", "TableTypeError", "__version__"]

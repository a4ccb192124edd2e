# SPDX-License-Identifier: Apache-2.0
"""Group-by on tables in memory, by Warpage's operators.

    import warpage
    groups = warpage.groupby(table, ["user"], ["count", "sum:price"])

A table is anything that speaks the Arrow C data interface (pyarrow, Polars, DuckDB, pandas), or a dict of arrays
(NumPy's, array.array, anything with a buffer). Columns are not copied. The result speaks that interface, too:
pyarrow.table(groups), polars.DataFrame(groups); or groups.to_dict(), to_numpy(), to_arrow(), to_pandas().
"""
from warpage.command import compare, run
from warpage.operators import groupby, merge
from warpage.groups import Groups
from warpage.native import WarpageError, __version__

__all__ = ["groupby", "merge", "run", "compare", "Groups", "WarpageError", "__version__"]

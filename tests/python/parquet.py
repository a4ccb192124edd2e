# SPDX-License-Identifier: Apache-2.0
"""warpage groupby writes Parquet: the values, types and NULLs of its CSV. Needs pyarrow, else status 77."""
import math
import os
import subprocess
import sys
import tempfile

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    sys.exit(77)

ROWS = ["k,t,i,f", "1,a,9223372036854775807,0.1", "1,a,-1,0.2", '2,"x, ""y""",5,', '2,"",,nan', ",,7,inf", "3,zürich,2,-0.0",
        '3,"two\nlines",18,1e300', "3,NULL,4,0.3333333333333333"]


def run(folder, *options):
    table = os.path.join(folder, "t.csv")
    with open(table, "w", encoding="utf-8") as file:
        file.write("\n".join(ROWS) + "\n")
    result = subprocess.run([os.environ["WARPAGE"], "groupby", *options, table], capture_output=True,
                            env=dict(os.environ, WARPAGE_PYTHON=sys.executable))
    return result.returncode, result.stdout, result.stderr.decode()


def same(left, right):
    if left is None or right is None:
        return left is right
    return left == right or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "out.parquet")
    assert run(folder, "--key", "t,k", "--agg", "count,max:i,sum:f", "--output", path) == (0, b"", "")
    result = pyarrow.parquet.read_table(path)
    assert [(field.name, str(field.type)) for field in result.schema] == [
        ("t", "string"), ("k", "int64"), ("count", "uint64"), ("max_i", "int64"), ("sum_f", "double")], result.schema
    wanted = [("", 2, 1, None, math.nan), ("NULL", 3, 1, 4, 0.3333333333333333), ("a", 1, 2, 2**63 - 1, 0.1 + 0.2),
              ("two\nlines", 3, 1, 18, 1e300), ('x, "y"', 2, 1, 5, None), ("zürich", 3, 1, 2, 0.0), (None, None, 1, 7, math.inf)]
    ours = list(zip(*result.to_pydict().values()))
    assert len(ours) == len(wanted) and all(same(a, b) for x, y in zip(ours, wanted) for a, b in zip(x, y)), ours

    # On stdout; without a group; order and limit; and read back by the command.
    code, stdout, stderr = run(folder, "--key", "k", "--format", "parquet", "--where", "k > 100")
    assert code == 0 and pyarrow.parquet.read_table(pyarrow.BufferReader(stdout)).num_rows == 0, stderr
    assert run(folder, "--key", "k", "--order-by", "count:desc", "--limit", "1", "--output", path)[0] == 0
    assert pyarrow.parquet.read_table(path).to_pydict() == {"k": [3], "count": [3]}
    again = subprocess.run([os.environ["WARPAGE"], "groupby", "--key", "k", "--agg", "sum:count", path], capture_output=True,
                           env=dict(os.environ, WARPAGE_PYTHON=sys.executable))
    assert again.stdout == b"k,sum_count\n3,3\n", again

    # A file that cannot be written: one sentence, nothing left behind.
    before = sorted(os.listdir(folder))
    code, stdout, stderr = run(folder, "--key", "k", "--output", os.path.join(folder, "gone", "out.parquet"))
    assert code == 1 and stderr.count("\n") == 1 and "gone/out.parquet" in stderr, stderr
    assert sorted(os.listdir(folder)) == before

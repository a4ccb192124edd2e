# SPDX-License-Identifier: Apache-2.0
"""warpage.groupby on tables of pyarrow, Polars, DuckDB, pandas and NumPy, and `warpage groupby` on Parquet and
Arrow files, against DuckDB. Exit status 77: these packages are not there."""
import csv
import gc
import os
import subprocess
import sys
import tempfile

try:
    import duckdb
    import numpy
    import pandas
    import polars
    import pyarrow
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet
except ImportError:
    sys.exit(77)
import warpage

random = numpy.random.default_rng(7)
ROWS = 20000
AGGREGATES = ["count", "count:v", "sum:v", "min:f", "avg:f", "max:d"]
SQL = "count(*), count(v), sum(v)::bigint, min(f), avg(f), max(d)"


def some(values, type_=None):
    """A tenth of them are NULL."""
    return pyarrow.array(values, type_, mask=random.random(len(values)) < 0.1)


t = table = pyarrow.table({
    "k": some(random.integers(-5, 50, ROWS).astype("int32")),
    "t": some(numpy.array(["", "a", "zürich", 'x"y', "long " * 9])[random.integers(0, 5, ROWS)]),
    "c": some(numpy.array(["p", "q", "r"])[random.integers(0, 3, ROWS)]).dictionary_encode(),
    "d": some(random.integers(0, 300, ROWS).astype("M8[D]")),
    "v": some(random.integers(-2**40, 2**40, ROWS)),
    "f": some(random.integers(-4000, 4000, ROWS) / 4),
})
KEYS = [["k"], ["t"], ["c"], ["d"], ["k", "t"], ["c", "d"]]


def by_duckdb(keys):
    names = ", ".join(keys)
    return duckdb.sql("select %s, %s from t group by all order by %s" % (
        names, SQL, ", ".join(key + " nulls last" for key in keys))).fetchall()


def rows_of(groups):
    return [tuple(row.values()) for row in groups.to_arrow().to_pylist()]


sources = {
    "pyarrow": lambda: table,
    "pieces": lambda: pyarrow.concat_tables([table.slice(0, 777), table.slice(777, 1), table.slice(778)]),
    "batch": lambda: table.combine_chunks().to_batches()[0],
    "stream": lambda: table.to_reader(max_chunksize=1000),
    "polars": lambda: polars.from_arrow(table),
    "duckdb": lambda: duckdb.sql("select * from t"),
    "pandas": lambda: table.to_pandas(types_mapper=pandas.ArrowDtype),
}
for name, source in sources.items():
    for keys in KEYS:
        ours, theirs = rows_of(warpage.groupby(source(), keys, AGGREGATES)), by_duckdb(keys)
        assert len(ours) == len(theirs), (name, keys, len(ours), len(theirs))
        for ours_row, theirs_row in zip(ours, theirs):
            assert ours_row == theirs_row, (name, keys, ours_row, theirs_row)

# Out, to each of them; the result stays while they refer to it.
groups = warpage.groupby(table, ["c", "k"], ["sum:v"])
pieces = [groups.to_arrow(), polars.DataFrame(groups), groups.to_pandas(), groups.to_numpy(), groups.to_dict()]
wanted = rows_of(groups)
del groups
gc.collect()
assert [tuple(r.values()) for r in pieces[0].to_pylist()] == wanted
assert pieces[1].rows() == wanted
assert [tuple(None if pandas.isna(x) else x for x in r) for r in pieces[2].itertuples(index=False)] == wanted
assert list(zip(*(v.tolist() for v in pieces[3].values()))) == wanted
assert list(zip(*pieces[4].values())) == wanted
arrow = pieces[0]
assert duckdb.sql("select sum(sum_v) from arrow").fetchall() == duckdb.sql("select sum(v) from t").fetchall()

# NumPy in: without gaps, with gaps, and the other byte order. Nothing is copied that need not be.
keys = random.integers(0, 9, ROWS)
numbers = numpy.bincount(keys)
for array in (keys, numpy.repeat(keys, 2)[::2], keys.astype("uint8"), keys.astype("M8[s]").view("int64")):
    assert warpage.groupby({"k": array}, "k").to_numpy()["count"].tolist() == numbers.tolist()
try:
    warpage.groupby({"k": keys.astype(">i8")}, "k")
    raise AssertionError("the other byte order was taken")
except warpage.WarpageError as error:
    assert "byte order" in str(error)

# Files, by the command.
with tempfile.TemporaryDirectory() as folder:
    files = {"t.parquet": pyarrow.parquet.write_table, "t.arrow": pyarrow.feather.write_feather}
    for name, write in files.items():
        path = os.path.join(folder, name)
        write(table, path)
        for keys in [["k"], ["t"], ["c", "k"]]:
            result = subprocess.run([os.environ["WARPAGE"], "groupby", "--key", ",".join(keys), "--agg",
                                     "count,count:v,sum:v,min:f", path], capture_output=True, text=True,
                                    env=dict(os.environ, WARPAGE_PYTHON=sys.executable))
            assert result.returncode == 0, result.stderr
            ours = list(csv.reader(result.stdout.splitlines()))[1:]
            theirs = [["" if v is None else str(v) for v in row[:len(keys) + 4]] for row in by_duckdb(keys)]
            assert ours == theirs, (name, keys, ours[:3], theirs[:3])

# Files, and a LazyFrame of which only the columns that are needed are collected.
with tempfile.TemporaryDirectory() as folder:
    some_rows = table.select(["k", "v", "f"])
    pyarrow.parquet.write_table(some_rows, folder + "/t.parquet")
    pyarrow.feather.write_feather(some_rows, folder + "/t.arrow", compression="uncompressed")
    pyarrow.csv.write_csv(some_rows, folder + "/t.csv")
    wanted = warpage.groupby(table, "k", ["sum:v", "count"])
    for source in (folder + "/t.parquet", folder + "/t.arrow", folder + "/t.csv", polars.from_arrow(table).lazy(),
                   polars.scan_parquet(folder + "/t.parquet")):
        groups = warpage.groupby(source, "k", ["sum:v", "count"])
        assert groups.to_dict() == wanted.to_dict(), source
    assert warpage.groupby(source, "k").to_polars().shape == (len(wanted), 2)
    open(folder + "/bad.parquet", "wb").write(b"PAR1 and nothing")
    for path, part in (("/bad.parquet", "bad.parquet: "), ("/none.csv", "none.csv"), ("/t.parquet", "no column 'kk'")):
        try:
            warpage.groupby(folder + path, "k" if path != "/t.parquet" else "kk")
        except warpage.WarpageError as error:
            assert part in str(error), error
        else:
            raise AssertionError(path)

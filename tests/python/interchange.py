# SPDX-License-Identifier: Apache-2.0
"""warpage.groupby on tables of pyarrow, Polars, DuckDB, pandas and NumPy, and `warpage groupby` on Parquet and
Arrow files, against DuckDB. Exit status 77: these packages are not there."""
import csv
import datetime
import decimal
import gc
import gzip
import os
import pathlib
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
    import pyarrow.dataset
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

# A CSV file whose later values are wider than the first megabyte's.
with tempfile.TemporaryDirectory() as folder:
    path = folder + "/late.csv"
    for first, later, key, value in (("1", "1.5", "a", 400001.5), ("", "7", "a", 7), ("", "0.5", "a", 0.5), ("2", "x", "x", 3)):
        with open(path, "w", encoding="utf-8") as file:
            file.write("k,v,w,z\n" + "a,%s,3,9\n" % first * 400000 + "a,%s,3,%s\n" % (later, "y" * 9) + "a,%s,3,z\n" % first)
        if later != "x":
            total = warpage.groupby(path, "k", sum="v").to_dict()["sum_v"]
            assert total == [value + (first == "1")], (first, later, total)
            continue
        assert warpage.groupby(path, "v", sum="w").to_dict() == {"v": ["2", "x"], "sum_w": [1200003, 3]}
        try:
            warpage.groupby(path, "k", sum="v")
        except TypeError as error:
            assert "the column has no numbers" in str(error) and "late.csv" in str(error) and "'x'" in str(error), error
        else:
            raise AssertionError("a sum of texts")
        try:
            warpage.groupby(path, "kind")
        except KeyError as error:
            assert str(error) == "the table has no column 'kind'; it has k, v, w, z", error
        else:
            raise AssertionError("a column that is not there")
try:
    warpage.groupby("s3://bucket/t.parquet", "k")
except OSError as error:
    assert "pyarrow.dataset" in str(error), error
else:
    raise AssertionError("a path of another machine")

# A column of a result is an array to them.
groups = warpage.groupby(table, ["c", "k"], ["sum:v", "avg:f"])
for name in groups.names:
    column, whole = groups[name], groups.to_arrow().column(name)
    assert pyarrow.array(column).to_pylist() == whole.to_pylist() == polars.Series(column).to_list() == list(column), name
    assert pandas.Series(column).dropna().tolist() == [value for value in column if value is not None], name
    assert numpy.asarray(column).shape == (len(groups),), name
assert numpy.isnat(numpy.asarray(warpage.groupby(table, "d")["d"])).sum() == 1
assert numpy.nansum(groups["avg_f"]) == numpy.nansum(groups["avg_f"].to_numpy())
assert pandas.DataFrame(groups).columns.tolist() == groups.names and dict(groups)["sum_v"].to_list() == groups.to_dict()["sum_v"]

# Batches and tables in a list, a scanner, records and texts of NumPy, pandas' own times in lists.
wanted = warpage.groupby(table, ["c", "t"], ["count", "sum:v"]).to_dict()
dictionaries = table.set_column(1, "t", table["t"].dictionary_encode())  # the same texts
for source in (table.to_batches(max_chunksize=999), [table.slice(0, 7), dictionaries.slice(7)], pyarrow.dataset.dataset(table).scanner(),
               [polars.from_arrow(table)]):
    assert warpage.groupby(source, ["c", "t"], ["count", "sum:v"]).to_dict() == wanted
for other, part in ((table.drop(["v"]), "no column 'v'"), (table.set_column(4, "v", table["v"].cast("float64")), "in one table and"),
                    (table.set_column(0, "k", table["t"]), "in one table and"),
                    (table.set_column(3, "d", table["d"].cast(pyarrow.timestamp("s")).cast(pyarrow.timestamp("us"))), "in one table and")):
    try:
        warpage.groupby([table, other], ["k", "d"], ["sum:v"])
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError(part)
records = numpy.array([(1, 0.5, "a"), (1, 1.5, "b")], dtype=[("k", "i4"), ("x", "f8"), ("t", "U3")])
assert rows_of(warpage.groupby(records, "k", ["sum:x", "max:t"])) == [(1, 2.0, "b")] == rows_of(warpage.groupby(records.view(numpy.recarray), "k", ["sum:x", "max:t"]))
if hasattr(numpy.dtypes, "StringDType"):
    texts = numpy.array(["a", None, "long " * 9, "a"], dtype=numpy.dtypes.StringDType(na_object=None))
    assert rows_of(warpage.groupby({"t": texts}, "t")) == [("a", 2), ("long " * 9, 1), (None, 1)]
times = [pandas.Timestamp("2024-02-29 12:00"), pandas.NaT, pandas.Timestamp("2024-02-29 12:00")]
assert rows_of(warpage.groupby({"t": times, "d": [pandas.Timedelta(hours=1), pandas.Timedelta(0), None]}, "t", "max:d")) == [
    (datetime.datetime(2024, 2, 29, 12), datetime.timedelta(hours=1)), (None, datetime.timedelta(0))]
try:
    warpage.groupby(polars.DataFrame({"o": polars.Series([object()], dtype=polars.Object)}), "o")
except TypeError as error:
    assert "Python's objects" in str(error), error
else:
    raise AssertionError("addresses of objects were grouped")

# NumPy in: without gaps, with gaps, and the other byte order.
keys = random.integers(0, 9, ROWS)
numbers = numpy.bincount(keys)
for array in (keys, numpy.repeat(keys, 2)[::2], keys.astype("uint8"), keys.astype("M8[s]").view("int64"), keys.astype(">i8")):
    assert warpage.groupby({"k": array}, "k").to_numpy()["count"].tolist() == numbers.tolist()

# A column's own arrays of several packages in one table: chunks that end at different rows, and NumPy's of objects.
size, names = 10_000, ["a", "b", "c", "d", "e", "f", "g"]
mixed = {"a": pyarrow.chunked_array([[i % 7 for i in range(first, first + 1000)] for first in range(0, size, 1000)]),
         "b": polars.Series(["t%d" % (i % 5) if i % 11 else None for i in range(size)]),
         "c": pandas.Series(["p%d" % (i % 3) for i in range(size)]), "d": numpy.array(["o%d" % (i % 2) for i in range(size)], dtype=object),
         "e": [i % 4 if i % 9 else None for i in range(size)], "f": polars.concat([polars.Series([True]), polars.Series([False] * (size - 1))],
                                                                                    rechunk=False), "g": numpy.arange(size) % 2}
plain = polars.DataFrame({name: column if isinstance(column, list) else polars.Series(pandas.Series(column).tolist() if name in "cd" else column)
                          for name, column in mixed.items()})
for keys in (["a"], ["b", "e"], ["c", "d"], names):
    ours = warpage.groupby(mixed, keys, ["count", "sum:g", "count:e", "count_distinct:b"]).to_dict()
    assert ours == warpage.groupby(plain, keys, ["count", "sum:g", "count:e", "count_distinct:b"]).to_dict(), keys
assert len(warpage.groupby({"a": pyarrow.chunked_array([], pyarrow.int32())}, "a")) == 0

# Decimals of DuckDB, whose format names their width; decimals of 64 bits.
(total, least, mean), = warpage.groupby(duckdb.sql("select 1 k, (i / 4)::decimal(10, 2) p from range(5) r(i)"), "k",
                                        ["sum:p", "min:p", "avg:p"]).to_polars().select("sum_p", "min_p", "avg_p").rows()
assert (total, least, mean) == (decimal.Decimal("2.5"), 0, 0.5)
for name, digits in (("decimal64", 12), ("decimal32", 9)) if hasattr(pyarrow, "decimal32") else ():
    short = pyarrow.table({"k": pyarrow.array([decimal.Decimal("1.5"), None, decimal.Decimal("-2")], getattr(pyarrow, name)(digits, 3))})
    assert rows_of(warpage.groupby(short, "k", "sum:k")) == [(-2, -2), (decimal.Decimal("1.5"),) * 2, (None, None)]

# Dates and times as Python's and as NumPy's.
times = polars.select(k=polars.Series([1, 2, 2]), d=polars.Series([datetime.date(2020, 1, 2), None, datetime.date(1900, 1, 1)]),
                      t=polars.Series([datetime.datetime(2020, 1, 2, 3, 4, 5, 6)] * 3, dtype=polars.Datetime("ns", "Europe/Berlin")),
                      h=polars.Series([datetime.time(1, 2, 3)] * 3), e=polars.Series([datetime.timedelta(days=-2)] * 3))
kept = warpage.groupby(times, "k", max=["d", "t", "h", "e"])
assert rows_of(kept) == [(1, *times.row(0)[1:]), (2, *times.row(2)[1:])], kept
assert "2020-01-02 04:04:05.000006+01:00" in repr(kept), kept
arrays = kept.to_numpy()
assert [str(arrays[name].dtype) for name in kept.names[1:]] == ["datetime64[D]", "datetime64[ns]", "timedelta64[ns]", "timedelta64[us]"]
assert arrays["max_d"].tolist() == [datetime.date(2020, 1, 2), datetime.date(1900, 1, 1)]
far = warpage.groupby(pyarrow.table({"k": pyarrow.array([10**7], pyarrow.date32())}), "k")
assert far.to_dict()["k"] == [10**7] and "10000000" in repr(far)  # beyond the year 9999

# Types that are not grouped have names.
for column, name in (([[1]], "large_list"), ([{"a": 1}], "struct")):
    try:
        warpage.groupby(polars.DataFrame({"k": column}), "k")
    except TypeError as error:
        assert "'k' has Arrow's type %s, which" % name in str(error), error
    else:
        raise AssertionError(name)

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

    # Several files: a folder as Spark writes it, one whose folders are values, a pattern, a list, a dataset; compressed files.
    plan = {"whole.parquet/part-0.parquet": some_rows[:100], "whole.parquet/part-1.parquet": some_rows[100:],
            "by/w=1/a.parquet": some_rows[:100], "by/w=2/a.parquet": some_rows[100:]}
    for path, rows in plan.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        pyarrow.parquet.write_table(rows, os.path.join(folder, path))
    for path in ("whole.parquet/_SUCCESS", "whole.parquet/.part-0.parquet.crc"):
        open(os.path.join(folder, path), "wb").close()
    with gzip.open(folder + "/t.csv.gz", "wb") as file:
        file.write(open(folder + "/t.csv", "rb").read())
    with pyarrow.OSFile(folder + "/t.arrows", "wb") as file, pyarrow.ipc.new_stream(file, some_rows.schema) as writer:
        writer.write_table(some_rows)
    pieces = [pathlib.Path(folder) / "whole.parquet" / ("part-%d.parquet" % i) for i in (0, 1)]
    for source in (folder + "/whole.parquet", folder + "/by", folder + "/by/*/*.parquet", pieces, folder + "/t.csv.gz", folder + "/t.arrows",
                   pyarrow.dataset.dataset(folder + "/whole.parquet")):
        assert warpage.groupby(source, "k", ["sum:v", "count"]).to_dict() == wanted.to_dict(), source
    assert warpage.groupby(folder + "/by", "w").to_dict() == {"w": [1, 2], "count": [100, len(table) - 100]}
    polars.DataFrame({"k": [1, 2, 2], "t": ["a", "b", None], "v": [1, 2, 3]}).write_parquet(folder + "/both", partition_by=["k", "t"])
    assert rows_of(warpage.groupby(folder + "/both", ["t", "k"], "sum:v")) == [("a", 1, 1), ("b", 2, 2), (None, 2, 3)]  # in files, too

    open(folder + "/bad.parquet", "wb").write(b"PAR1 and nothing")
    os.mkdir(folder + "/none")
    for path, kind, part in (("/bad.parquet", OSError, "bad.parquet: "), ("/none.csv", OSError, "none.csv: there is no such file"),
                             ("/t.parquet", KeyError, "no column 'kk'"), ("/by", KeyError, "no column 'kk'"),
                             ("/none", OSError, "there is no file"), ("/*.x", OSError, "there is no file"), ("/t.*", OSError, "files of one kind"),
                             ("/bad.p*t", OSError, "bad.parquet")):
        try:
            warpage.groupby(folder + path, "kk" if kind is KeyError else "k")
        except kind as error:
            assert isinstance(error, warpage.WarpageError) and part in str(error), error
        else:
            raise AssertionError(path)

# A table that outlives Python's own end.
code = "import builtins, warpage; builtins.kept = warpage.groupby({'k': ['a', 'b'], 'n': [1, 2]}, ['k', 'n'], text='utf8').to_arrow()"
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
assert done.returncode == 0 and not done.stderr, done

# Two columns of one name: which is meant?
twice = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2]), pyarrow.array([3])], names=["a", "a", "b"])
for call in (lambda: warpage.groupby(twice, "a"), lambda: warpage.groupby(twice, "b", "sum:a"), lambda: warpage.sample(twice, "a")):
    try:
        call()
    except warpage.ColumnError as error:
        assert str(error) == "the table has 2 columns named 'a'", error
    else:
        raise AssertionError("a column of two was taken")
assert warpage.groupby(twice, "b").to_dict() == {"b": [3], "count": [1]}

# What NumPy masks, and NaT, is NULL; its dates are dates, as Arrow's. What to_numpy returns comes back as it was.
# Halves, the other byte order, bytes, ranges, and lists of NumPy's numbers.
for values, keys in ((numpy.array([0.5, -2, 0.5], "f2"), [-2.0, 0.5]), (numpy.array([7, 300, 7], ">i8"), [7, 300]),
                     (numpy.array([0.5, -2, 0.5], ">f2"), [-2.0, 0.5]), (numpy.array([b"b", b"a", b"b"]), [b"a", b"b"]),
                     (range(3), [0, 1, 2]), (list(numpy.array([7, 3, 7], "i4")), [3, 7]), ([numpy.float64(0.5), 2, None], [0.5, 2.0, None]),
                     ([numpy.bool_(True), None, numpy.bool_(True)], [True, None]), (list(numpy.array(["b", "a"])), ["a", "b"]),
                     (numpy.array(["2020-01-02"], ">M8[s]"), [datetime.datetime(2020, 1, 2)])):
    assert warpage.groupby({"k": values}, "k").to_dict()["k"] == keys, values
assert warpage.groupby({"k": numpy.ma.array([1, 2, 1], ">i4", mask=[0, 1, 0])}, "k").to_dict() == {"k": [1, None], "count": [2, 1]}
for values, part in (({1, 2}, "column 'k' is a set; a column is an array, a list"), (numpy.zeros((2, 2)), "column 'k' has 2 dimensions")):
    try:
        warpage.groupby({"k": values}, "k")
    except (TypeError, ValueError) as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

masked = numpy.ma.array([1, 2, 1, 3], mask=[0, 1, 0, 1])
assert rows_of(warpage.groupby({"k": masked, "v": masked}, "k", ["count", "sum:v"])) == [(1, 2, 2), (None, 2, None)]
assert rows_of(warpage.groupby({"k": masked[::3]}, "k")) == [(1, 1), (None, 1)]
back = warpage.groupby({"k": [1, None, 2]}, "k").to_numpy()
assert rows_of(warpage.groupby(back, "k", "sum:count")) == [(1, 1), (2, 1), (None, 1)]
for unit, day in (("D", datetime.date(2020, 1, 2)), ("h", datetime.datetime(2020, 1, 2)), ("us", datetime.datetime(2020, 1, 2))):
    days = numpy.array(["2020-01-02", "NaT", "2020-01-02"], "M8[%s]" % unit)
    assert rows_of(warpage.groupby({"k": days}, "k")) == [(day, 2), (None, 1)], unit
assert rows_of(warpage.groupby({"k": numpy.array([2, "NaT"], "m8[m]")}, "k")) == [(datetime.timedelta(minutes=2), 1), (None, 1)]
counts = warpage.Table("combining", combiner="add", key=int)
try:
    counts.insert_columns(masked, 1)
    raise AssertionError("a masked key was inserted")
except warpage.TableTypeError as error:
    assert "None" in str(error)

# Of a DataFrame of pandas, columns that are not read may have anything.
frame = pandas.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3], "o": [1, "a", None], "z": [1j, 2j, 3j]})
assert rows_of(warpage.groupby(frame, "k", "sum:v")) == [("a", 4), ("b", 2)]
assert rows_of(warpage.groupby(frame.set_index("k"), "k", "sum:v")) == [("a", 4), ("b", 2)]
for keys, kind, part in (("o", warpage.TableTypeError, "column o"), ("kk", warpage.ColumnError, "did you mean 'k'?"),
                         ("z", warpage.TableTypeError, "column z")):
    try:
        warpage.groupby(frame, keys)
        raise AssertionError("%s was grouped" % keys)
    except kind as error:
        assert part in str(error), error

# Files of one table: a column that the first has no values of, or only whole ones, has the type of all.
with tempfile.TemporaryDirectory() as folder:
    for number, text in enumerate(("k,v\n1,\n", "k,v\n1,2\n", "k,v\n2,2.5\n")):
        with open(os.path.join(folder, "%d.csv" % number), "w", encoding="utf8") as file:
            file.write(text)
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(os.path.join(folder, "%d.csv" % number)),
                                    os.path.join(folder, "%d.parquet" % number))
    for ending in ("csv", "parquet"):
        assert rows_of(warpage.groupby(os.path.join(folder, "*." + ending), "k", "sum:v")) == [(1, 2), (2, 2.5)]
    with open(os.path.join(folder, "3.csv"), "w", encoding="utf8") as file:
        file.write("k,v\n1,tea\n")
    try:
        warpage.groupby(os.path.join(folder, "*.csv"), "k", "sum:v")
        raise AssertionError("numbers and texts were summed")
    except warpage.FileError as error:
        assert "v has incompatible types" in str(error), error

# Options and aggregates that are none are refused by a sentence.
for options, part in (({"threads": -1}, "threads is -1"), ({"memory_bytes": "1GiB"}, "memory_bytes is '1GiB'"),
                      ({"groups": 1.5}, "groups is 1.5"), ({"count": False}, "count=False"), ({"aggs": 3}, "3 is no aggregate")):
    try:
        warpage.groupby({"k": [1]}, "k", **options)
        raise AssertionError("%s was taken" % options)
    except warpage.ArgumentError as error:
        assert part in str(error), error

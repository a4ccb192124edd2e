# SPDX-License-Identifier: Apache-2.0
"""warpage.groupby on arrays of Python's own, against a dictionary that does the same."""
import array
import copy
import datetime
import decimal
import doctest
import enum
import gc
import pickle
import random
import sys
import weakref

sys.modules["numpy"] = sys.modules["pyarrow"] = None  # as where they are not installed
import warpage
from warpage import native


def place(key):
    """NULL last, texts by bytes."""
    return (key is None, None if key is None else key.encode() if isinstance(key, str) else key)


def expected(keys, values):
    groups = {}
    for row, key in enumerate(zip(*keys)):
        groups.setdefault(key, []).append(values[row])
    return [key + (len(v), sum(v), min(v), max(v), sum(v) / len(v)) for key, v in
            sorted(groups.items(), key=lambda item: [place(k) for k in item[0]])]


def rows_of(groups):
    return list(zip(*groups.to_dict().values()))


def check(keys, values):
    names = ["k%d" % i for i in range(len(keys))]
    table = dict(zip(names, keys), v=values)
    groups = warpage.groupby(table, names, ["count", "sum:v", "min:v", ("max", "v"), "avg:v"])
    assert groups.names == names + ["count", "sum_v", "min_v", "max_v", "avg_v"], groups.names
    assert rows_of(groups) == expected(keys, values)


def fails(part, table, keys, aggs=("count",), **options):
    try:
        warpage.groupby(table, keys, aggs, **options)
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)


random_ = random.Random(3)
for code, low, high in [("b", -128, 127), ("B", 0, 255), ("h", -99, 99), ("i", -2**31, 2**31 - 1), ("I", 0, 9),
                        ("q", -2**63, 2**63 - 1), ("Q", 2**63, 2**64 - 1)]:
    pool = [random_.randint(low, high) for _ in range(50)]
    key = array.array(code, (random_.choice(pool) for _ in range(3000)))
    check([key], array.array("i", (random_.randint(-1000, 1000) for _ in range(3000))))
    check([key, array.array("h", (random_.randint(-2, 2) for _ in range(3000)))],
          array.array("d", (random_.randint(-1000, 1000) / 4 for _ in range(3000))))
texts = [random_.choice([None, "", "a", "zürich", "b" * 40, "B"]) for _ in range(3000)]
check([texts], array.array("i", range(3000)))
check([array.array("b", (i % 3 for i in range(3000))), texts], array.array("i", range(3000)))

# The memory of an array is shared, also when no other reference to it exists; the result outlives the call.
groups = warpage.groupby({"k": memoryview(bytes([1, 2, 1]))}, "k")
assert rows_of(groups) == [(1, 2), (2, 1)] and len(groups) == 2 and groups.explain
assert rows_of(warpage.groupby({"k": array.array("i")}, "k", "count")) == []

large = array.array("q", [2**63 - 1, 1])
ones = array.array("i", [1, 1])
counted = warpage.groupby({"count": ones}, "count")  # the key and the aggregate
try:
    counted.to_dict()
except warpage.ArgumentError as error:
    assert "two columns of the result are named 'count'" in str(error), error
else:
    raise AssertionError("a dict of two columns of one name")
fails("sum:v: a sum does not fit int64", {"k": ones, "v": large}, "k", ["count", "sum:v"])
fails("no column 'vv'; did you mean 'v'?", {"k": ones, "v": large}, "k", "sum:vv")
fails("'v' has 1 rows, 'k' has 2", {"k": ones, "v": array.array("i", [1])}, "k", "sum:v")
fails("the aggregates are", {"k": ones}, "k", "middle:k")
fails("of which column?", {"k": ones}, "k", "sum")
fails("the column has no numbers", {"k": ones, "t": ["a", "b"]}, "k", "median:t")
fails("column 't': row 1 is 2; a list has values of one type", {"t": ["a", 2]}, "t")
fails("not a table: an object of type int", 7, "k")
fails("keys are a column's name or a list of names", {"k": ones}, 7)
fails("keys are a column's name or a list of names", {"k": ones}, [7])
fails("is none of auto, direct", {"k": ones}, "k", strategy="fast")
fails("there is no device", {"k": ones}, "k", device="gpu")

# Lists of numbers, whose None are NULL; every spelling of an aggregate.
numbers = {"k": [1, 2, None, 1], "b": [True, None, True, False], "v": [0.5, 2, None, 1]}
for aggregates, named in ((["sum:v", "count"], {}), ([("v", "sum"), "count"], {}), ([("sum", "v"), "count"], {}),
                          ("sum:v", {"count": True}), (None, {"sum": "v", "count": True}), (("v", "sum"), {"count": True})):
    assert rows_of(warpage.groupby(numbers, "k", aggregates, **named)) == [(1, 1.5, 2), (2, 2.0, 1), (None, None, 1)], aggregates
assert rows_of(warpage.groupby(numbers, "b", "max:b")) == [(False, False), (True, True), (None, None)]
assert rows_of(warpage.groupby(numbers, "k", max=["v", "k"])) == [(1, 1.0, 1), (2, 2.0, 2), (None, None, None)]
assert repr(warpage.groupby({"t": ["b"] * 3 + list("acdefghijkl")}, "t")).splitlines()[-3:] == ["j      1", "…", "[12 rows]"]
for kind, arguments in ((KeyError, (numbers, "q")), (TypeError, (7, "k")), (ValueError, (numbers, [])), (ValueError, (numbers, "k", "mean:v")),
                        (OverflowError, ({"k": ones, "v": large}, "k", "sum:v")), (TypeError, ({"k": ["a", 1]}, "k")),
                        (ValueError, ("table.txt", "k")), (TypeError, ({"k": [2**64]}, "k")), (ValueError, (numbers, "k", [3]))):
    try:
        warpage.groupby(*arguments)
    except kind as error:
        assert isinstance(error, warpage.WarpageError) and not str(error).startswith("'the"), error
    else:
        raise AssertionError(kind)
fails("neither an option nor one of", numbers, "k", None, mean="v")
for other, own in (("mean", "avg"), ("nunique", "count_distinct"), ("std", "stddev"), ("summ", "sum")):
    fails("did you mean '%s'?" % own, numbers, "k", other + ":v")
assert warpage.groupby(numbers, "k", {"v": ["min", "max"], "k": "sum", "*": "count"}).names == ["k", "min_v", "max_v", "sum_k", "count"]

# Names for the result's columns, also through partials; SQL's spellings; rows that are dicts; types derived from Python's own.
named = warpage.groupby(numbers, "k", least=("v", "min"), total="sum:v", rows="count", mean_v=("v", "avg"), middle=("v", "quantile", 0.5), sort=True)
assert named.names == ["k", "least", "total", "rows", "mean_v", "middle"] and rows_of(named)[0] == (1, 0.5, 1.5, 2, 0.75, 0.75), named
parts = [warpage.groupby(numbers, "k", total=("v", "sum"), least=("v", "min"), partial=True) for _ in range(2)]
assert parts[0].names == ["k", "sum_v", "min_v"]
assert warpage.merge(parts, "k", least=("v", "min"), total=("v", "sum")).to_dict() == {"k": [1, 2, None], "least": [0.5, 2.0, None], "total": [3.0, 4.0, None]}
for spelling, hint in (("sum(v)", "did you mean 'sum:v'?"), ("COUNT(*)", "did you mean 'count'?"), ("Mean:v", "did you mean 'avg'?")):
    fails(hint, numbers, "k", spelling)
fails("of a column, the names of aggregates", numbers, "k", {"v": sum})
fails("sort is 'count'", numbers, "k", sort="count")
assert rows_of(warpage.groupby(numbers, "k", "count:*")) == rows_of(warpage.groupby(numbers, "k"))
dicts = [{"k": 1, "v": 2}, {"k": 1}, {"v": 3, "k": enum.IntEnum("Kind", "A B").B}]
assert rows_of(warpage.groupby(dicts, "k", ["sum:v", "count"])) == [(1, 2, 2), (2, 3, 1)]

# Lists of dates, times with and without zones, durations, decimals and bytes; what comes out is Python's, too.
day, hour, utc = datetime.date(2024, 2, 29), datetime.timedelta(hours=1), datetime.timezone.utc
noon = datetime.datetime(1969, 12, 31, 12, 0, 0, 7)
for low, high in ((day, datetime.date(9999, 12, 31)), (noon, noon + hour), (noon.replace(tzinfo=utc), (noon + hour).replace(tzinfo=utc)),
                  (-hour, 2 * hour), (decimal.Decimal("-0.5"), decimal.Decimal("12.25")), (b"\0", b"\xff\0")):
    kept = warpage.groupby({"k": [high, low, None, high], "v": [low, low, high, high]}, "k", ["min:v", "max:v", "count"])
    assert rows_of(kept) == [(low, low, low, 1), (high, low, high, 2), (None, high, high, 1)], kept
aware = noon.replace(tzinfo=datetime.timezone(hour))
(instant, _), = rows_of(warpage.groupby({"k": [aware, aware.astimezone(utc)]}, "k"))
assert instant == aware and instant.utcoffset() == datetime.timedelta(0)
assert rows_of(warpage.groupby({"k": [1], "v": [decimal.Decimal("1.5")]}, "k", "sum:v")) == [(1, decimal.Decimal("1.5"))]
fails("some datetimes have a time zone", {"k": [noon, aware]}, "k")
fails("more than 18 digits", {"k": [decimal.Decimal(10) ** 18]}, "k")
fails("no NaN", {"k": [decimal.Decimal("nan")]}, "k")

# Long texts, and those of several lines, take one line of a table each.
shown = repr(warpage.groupby({"t": ["x" * 5000, "a\nb", "\u00e9\t", day.isoformat()]}, "t")).splitlines()
assert [line.split()[0] for line in shown] == ["t", day.isoformat(), "a\\nb", "x" * 39 + "\u2026", "\u00e9\\t", "[4"], shown

# Columns and rows of a result; both again from a pickle.
keyed = {"k": ["b", None, "a<b", "b"], "v": [1, None, 2**62, 3], "d": [decimal.Decimal("1.5"), None, decimal.Decimal(2), None], "o": [True, False, None, True]}
for text in ("dictionary", "utf8"):
    kept = warpage.groupby(keyed, "k", ["count", "sum:v", "avg:v", "sum:d", "max:o"], text=text)
    rows = [("a<b", 1, 2**62, float(2**62), decimal.Decimal(2), None), ("b", 2, 4, 2.0, decimal.Decimal("1.5"), True), (None, 1, None, None, None, False)]
    for groups in (kept, pickle.loads(pickle.dumps(kept)), copy.deepcopy(kept)):
        assert list(groups) == rows == groups[:] and groups[::-2] == rows[::-2] and groups[-1] == groups[2] == rows[2], groups[:]
        assert groups[1].sum_v == 4 and groups.shape == (3, 6) and "sum_v" in groups and "v" not in groups and rows[0] in groups
        assert list(groups["max_o"]) == groups["max_o"][:] == [None, True, False] and groups["k"][-2] == "b" and 4 in groups["sum_v"]
        assert {name: column.to_list() for name, column in dict(groups).items()} == groups.to_dict()
        assert rows_of(warpage.groupby(groups, "k", ["sum:sum_v", "max:sum_d"])) == [(row[0], row[2], row[4]) for row in rows]
        assert "<td style=\"text-align: left\">a&lt;b</td>" in groups._repr_html_() and "<p>3 rows</p>" in groups._repr_html_()
assert "<p>first 10 of 99 rows</p>" in warpage.groupby({"k": list(range(99))}, "k")._repr_html_()
parts = [pickle.loads(pickle.dumps(warpage.groupby({"k": ["x"], "v": [value]}, "k", "avg:v", partial=True))) for value in (2**62, 2**62, 1)]
assert rows_of(warpage.merge(parts, "k", "avg:v")) == [("x", (2**63 + 1) / 3)]
many = warpage.groupby({"k": ["%05d" % i for i in range(9999)]}, "k")
assert [row.k for row in many] == many.to_dict()["k"] and [*many["count"]] == [1] * 9999 and repr(many["k"][5000:5002]) == "['05000', '05001']"
for kind, key in ((KeyError, "sum"), (IndexError, 3), (IndexError, -4), (TypeError, 1.5)):
    try:
        kept[key]
    except kind as error:
        assert not str(error).startswith("'"), error
    else:
        raise AssertionError(kind)
try:
    warpage.groupby({"k": ones}, "k", device="gpu")
except RuntimeError as error:
    assert isinstance(error, warpage.DeviceError), error

# A result that was read as an Arrow stream is freed with its last reference, also where Python collects no garbage.
gc.collect()
gc.disable()
for make, key in ((lambda: warpage.groupby({"k": ["a", "b", "a"]}, "k"), "k"), (lambda: warpage.Table(key=str, value=int), "key")):
    made = make()
    if key == "key":
        made.insert("a", 1)
    assert len(warpage.groupby(made, key))
    watch = weakref.ref(made)
    del made
    assert watch() is None, watch()
# The library's copy of the texts is freed when the result's own is made.
for text in ("dictionary", "utf8"):
    made = warpage.groupby({"k": ["a", "b" * 20, "a", None]}, "k", text=text)
    assert made.to_dict()["k"] == ["a", "b" * 20, None]
    assert not any(isinstance(thing, native.Texts) for thing in gc.get_objects())
    assert rows_of(warpage.groupby(made, "k")) == [("a", 1), ("b" * 20, 1), (None, 1)] and made.to_dict()["k"] == ["a", "b" * 20, None]
gc.enable()
for module in (warpage, warpage.groups, warpage.operators):
    assert doctest.testmod(module).failed == 0

# SPDX-License-Identifier: Apache-2.0
"""Variance, median, quantile, count_distinct, and extremes of texts, against DuckDB on random tables of every type; partials and
merges of extremes. Exit status 77: pyarrow or duckdb is not there."""
import datetime
import math
import os
import random
import sys

try:
    import duckdb
    import pyarrow as pa
except ImportError:
    sys.exit(77)
import warpage
from warpage import operators

SEED = int(os.environ.get("SEED", "5"))
random_ = random.Random(SEED)
print("SEED=%d" % SEED)

POOLS = {
    "k": (pa.int32(), range(7)), "w": (pa.int64(), [-2**63, 2**63 - 1, 0]), "t": (pa.string(), ["", "a", "zürich", "long " * 9, "b"]),
    "o": (pa.bool_(), [True, False]), "day": (pa.date32(), [datetime.date(2013, 1, 1), datetime.date(1960, 2, 29)]),
    "z": (pa.binary(), [b"", b"\0", b"\xff", b"xyz" * 9]), "i": (pa.int16(), range(-300, 300)), "u": (pa.uint64(), [2**64 - 1, 1, 2**63]),
    "f": (pa.float64(), [0.5, -0.25, 1e9, 3.0, -0.0, 0.0, 7.125]), "e": (pa.float32(), [0.5, math.inf, -2.0]),
    "far": (pa.float64(), [1e8 + n / 4 for n in range(9)]),  # a sum of squares would keep none of the digits
    "m": (pa.decimal128(12, 2), [datetime.timedelta(n).days for n in (3, 70, 4000)])}
DISTINCT = ["count_distinct:%s" % name for name in POOLS]
NUMBERS = [("median", name) for name in "iufm"] + [("quantile", "i", 0.9), ("quantile", "f", 0), ("quantile", "u", 1.0), ("e", "quantile", 0.25)]
SPREADS = ["var:i", "stddev:f", "var:m", "var:far", "stddev:far"]
TEXTS = ["min:t", "max:t", "min:z", "max:z"]


def table(rows, null_share):
    return pa.table({name: pa.array([None if random_.random() < null_share else random_.choice(pool) for _ in range(rows)], type_)
                     for name, (type_, pool) in POOLS.items()})


def rows_of(arrow):
    return sorted((tuple(row.values()) for row in arrow.to_pylist()), key=repr)


def is_same(a, b, bound):
    return a == b or isinstance(a, float) and isinstance(b, float) and (abs(a - b) <= bound * abs(a) or a != a and b != b)


def check(got, wanted, what, bound=1e-9):
    assert len(got) == len(wanted), (what, len(got), len(wanted))
    for a, b in zip(got, wanted):
        wrong = [pair for pair in zip(a, b) if not is_same(*pair, bound)]
        assert len(a) == len(b) and not wrong, (what, wrong)


own = duckdb.connect()
own.execute("set threads = 1")
ASKED = ["count", "sum:i", "avg:f"] + DISTINCT + NUMBERS + SPREADS + TEXTS
SQL = ", ".join(["count(*)::ubigint", "sum(i)::bigint", "avg(f)"] + ["count(distinct %s)::ubigint" % name for name in POOLS] +
                ["quantile_cont(%s::double, %s)" % pair for pair in
                 [(name, 0.5) for name in "iufm"] + [("i", 0.9), ("f", 0), ("u", 1.0), ("e", 0.25)]] +
                ["%s(%s)" % pair for pair in (("var_samp", "i"), ("stddev_samp", "f"), ("var_samp", "m::double"), ("var_samp", "far"), ("stddev_samp", "far"))] +
                ["min(t)", "max(t)", "min(z)", "max(z)"])
for rows, null_share in ((0, 0), (1, 0), (40, 0.6), (700, 0.2)):
    own.register("given", table(rows, null_share))
    source = own.sql("from given").to_arrow_table()
    for keys in (["k"], ["t"], ["w", "o"], ["t", "day", "k"]):
        wanted = rows_of(own.sql("select %s, %s from given group by all" % (", ".join(keys), SQL)).to_arrow_table())
        pieces = pa.concat_tables([source.slice(0, rows // 3), source.slice(rows // 3)])
        for given, options in ((source, {}), (pieces.to_reader(max_chunksize=250), {"sort": False, "text": "utf8"})):
            groups = warpage.groupby(given, keys, ASKED, counts="uint64", **options)
            check(rows_of(groups.to_arrow()), wanted, (keys, rows, null_share, options))
        parts = [warpage.groupby(source.slice(first, 300), keys, ["count", "avg:i"] + SPREADS + TEXTS, partial=True, text="utf8").to_arrow()
                 for first in range(0, max(1, rows), 300)]
        check(rows_of(warpage.merge(parts, keys, ["count", "avg:i"] + SPREADS + TEXTS).to_arrow()),
              rows_of(warpage.groupby(source, keys, ["count", "avg:i"] + SPREADS + TEXTS).to_arrow()), ("merged", keys), 1e-6)  # means of parts are rounded

# Quantiles and distinct values of lists, which few groups of values that hardly recur have: of every type, on any rows; and where a look finds them.
QUANTILES = [("i", 0.5), ("u", 0.25), ("f", 0.5), ("m", 0.5), ("e", 0.25), ("i", 0.9)]
SQL = ", ".join(["count(*)::ubigint", "sum(i)::bigint", "min(i)", "count(distinct t)::ubigint"] + ["count(distinct %s)::ubigint" % name for name in "ufw"] +
                ["quantile_cont(%s::double, %s)" % pair for pair in QUANTILES])
ASKED = ["count", "sum:i", "min:i", "count_distinct:t", "count_distinct:u", "count_distinct:f", "count_distinct:w"] + [("quantile", *pair) for pair in QUANTILES]


def listed(keys, given, asked, **options):
    """The groups, and how many columns had lists."""
    opened, made = [], operators.Lists
    operators.Lists = lambda handle: opened.append(handle) or made(handle)
    try:
        return warpage.groupby(given, keys, asked, **options), len(opened)
    finally:
        operators.Lists = made


limits = operators.LOOK_ROWS_LEAST, operators.LISTED_ROWS, operators.LISTED_SHARE
for rows, null_share in ((1, 0), (40, 0.6), (700, 0.2)):
    own.register("given", table(rows, null_share))
    source = own.sql("from given").to_arrow_table()
    for keys in (["k"], ["t"], ["w", "o"], ["t", "day", "k"], ["far"]):
        wanted = rows_of(own.sql("select %s, %s from given group by all" % (", ".join(keys), SQL)).to_arrow_table())
        operators.LOOK_ROWS_LEAST, operators.LISTED_ROWS, operators.LISTED_SHARE = 1, 0, 0
        for given in (source, pa.concat_tables([source.slice(0, rows // 3), source.slice(rows // 3)]).to_reader(max_chunksize=250)):
            groups, count = listed(keys, given, ASKED, threads=random_.randint(1, 3))
            assert count == 6, count  # not of t
            check(rows_of(groups.to_arrow()), wanted, ("lists", keys, rows, null_share))
        operators.LOOK_ROWS_LEAST, operators.LISTED_ROWS, operators.LISTED_SHARE = limits
far = pa.table({"k": [i * 7919 % 40 for i in range(20000)], "v": [i * 104729 % 19997 / 4 for i in range(20000)], "w": [i % 9 for i in range(20000)]})
groups, count = listed("k", far, ["median:v", "median:w"])
assert count == 1 and listed("v", far, ["median:k"])[1] == 0, count
own.register("given", far)
check(rows_of(groups.to_arrow()), rows_of(own.sql("select k, median(v), median(w) from given group by k").to_arrow_table()), "far")

# The order of the groups, and names.
groups = warpage.groupby({"k": ["b", "a", "b", None], "v": [3, 1, 1, 2]}, "k", median="v", quantile=[("v", 0.25)], count=True, count_distinct="v")
assert groups.to_dict() == {"k": ["a", "b", None], "median_v": [1, 2, 2], "quantile_v_0.25": [1, 1.5, 2], "count": [1, 2, 1],
                            "count_distinct_v": [1, 2, 1]}, groups.to_dict()
# One value has no variance; an infinity has no number; NULL that comes late.
groups = warpage.groupby({"k": [1, 2, 2, 3, 3], "v": [5.0, 1.0, 2.0, math.inf, 1.0]}, "k", var="v", stddev="v").to_dict()
assert groups["var_v"][:2] == [None, 0.5] and groups["stddev_v"][1] == math.sqrt(0.5) and math.isnan(groups["var_v"][2]), groups
t = pa.table({"a": pa.array([1, 1, 2, 2], pa.int32()), "b": pa.array([1, 1, 1, 1], pa.int32()), "v": [1, 3, 5, 9]})
late = pa.concat_tables([t, t, t, pa.table({"a": pa.array([None, 1], pa.int32()), "b": pa.array([1, 1], pa.int32()), "v": [7, 2]})])
groups = warpage.groupby(late.to_reader(max_chunksize=2), ["a", "b"], ["var:v", "count"]).to_dict()
assert groups["count"] == [7, 6, 1] and groups["var_v"][2] is None and groups["var_v"][:2] == [1.0, 4.8], groups

# On a simulated GPU, with little memory, too: the processor's groups.
given = table(900, 0.2)
for keys, options in ((["k"], {}), (["t", "i"], {"strategy": "direct", "memory_bytes": 300 << 10}), (["i"], {"strategy": "partition"}), (["w", "o"], {})):
    asked = ["count"] + SPREADS + ["median:f", "count_distinct:t", "min:t"]
    check(rows_of(warpage.groupby(given, keys, asked, device="sim:k80", **options).to_arrow()),
          rows_of(warpage.groupby(given, keys, asked).to_arrow()), (keys, options, "sim:k80"), 1e-7)  # the processor's means are rounded
    parts = [warpage.groupby(given.slice(first, 500), keys, SPREADS, partial=True, device="sim:k80") for first in range(0, 900, 500)]
    check(rows_of(warpage.merge(parts, keys, SPREADS).to_arrow()), rows_of(warpage.groupby(given, keys, SPREADS).to_arrow()),
          (keys, "merged, sim:k80"), 1e-6)

# NaN is the largest, and a value.
groups = warpage.groupby({"k": [1] * 3, "v": [math.nan, 1.0, 2.0]}, "k", ["median:v", "quantile:v:1", "count_distinct:v"]).to_dict()
assert groups["median_v"] == [2.0] and math.isnan(groups["quantile_v_1"][0]) and groups["count_distinct_v"] == [3], groups

t = pa.table({"k": [1], "t": ["x"], "d": [datetime.date(2013, 1, 1)], "l": [[1]]})
for aggregate, options, part in (("median:t", {}, "median:t: the column has no numbers"), ("quantile:d:0.5", {}, "quantile:d: the column has no numbers"),
                                 ("quantile:k", {}, "quantile:k: at which share"), ("quantile:k:2", {}, "from 0 to 1"),
                                 ("quantile:k:x", {}, "from 0 to 1"), ("median", {}, "median: of which column?"), ("quantile", {}, "quantile:COLUMN:0.9"),
                                 (("median", "k", 0.5), {}, "the aggregates are"), ("count_distinct:l", {}, "'l' has Arrow's type list,"),
                                 ("var:t", {}, "var:t: the column has no numbers"),
                                 ("median:k", {"partial": True}, "median:k has no partial form")):
    try:
        warpage.groupby(t, "k", [aggregate], **options)
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

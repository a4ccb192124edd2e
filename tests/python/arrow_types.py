# SPDX-License-Identifier: Apache-2.0
"""Decimals, float16, fixed-size binary, null and bool as keys and values, whole and in partials, and warpage.sample.
Exit status 77: pyarrow is not there."""
import decimal
import random
import sys

try:
    import pyarrow
except ImportError:
    sys.exit(77)
import warpage

random_ = random.Random(11)
ROWS = 900
POOLS = {
    "d": (pyarrow.decimal128(12, 2), [decimal.Decimal(x) for x in ("-7.25", "0.00", "12.34", "9999999999.99")]),
    "i": (pyarrow.decimal128(38, 0), [decimal.Decimal(x) for x in (-5, 2**62, 3)]),
    "h": (pyarrow.float16(), [0.5, -2.0, 1024.0]),
    "w": (pyarrow.binary(3), [b"abc", b"\0\0\0", b"abd"]),
    "w0": (pyarrow.binary(0), [b""]),
    "n": (pyarrow.null(), [None]),
    "b": (pyarrow.bool_(), [True, False]),
    "k": (pyarrow.int32(), [1, 2, 3]),
}


def column(name):
    type_, pool = POOLS[name]
    values = [None if random_.random() < 0.1 else random_.choice(pool) for _ in range(ROWS)]
    if name == "h":
        return pyarrow.array(values, pyarrow.float32()).cast(type_)
    return pyarrow.array(values, type_)


table = pyarrow.table({name: column(name) for name in POOLS})
pieces = pyarrow.concat_tables([table.slice(0, 301), table.slice(301, 7), table.slice(308)])
AGGREGATES = ["count", "sum:d", "avg:d", "min:d", "max:i", "count:i", "sum:h", "max:h", "count:w", "count:n", "sum:b", "max:b"]


def own(keys):
    groups = {}
    rows = table.to_pydict()
    for row in range(ROWS):
        groups.setdefault(tuple(rows[key][row] for key in keys), []).append({name: rows[name][row] for name in POOLS})
    result = {}
    for key, members in groups.items():
        def values(name, members=members):
            return [float(m[name]) if name == "h" else m[name] for m in members if m[name] is not None]
        d, i, h, b = (values(name) for name in "dihb")
        result[key] = [len(members), sum(d) if d else None, float(sum(d)) / len(d) if d else None, min(d, default=None),
                       max(i, default=None), len(i), sum(h) if h else None, max(h, default=None), len(values("w")), 0,
                       sum(b) if b else None, max(b, default=None)]
    return result


def rows_of(groups, key_count):
    return {tuple(row.values())[:key_count]: list(row.values())[key_count:] for row in groups.to_arrow().to_pylist()}


def is_near(a, b, bound):
    return a == b or isinstance(a, float) and isinstance(b, float) and abs(a - b) <= bound * abs(a)


def check(got, wanted, what, bound=1e-12):
    assert set(got) == set(wanted), (what, set(got) ^ set(wanted))
    for key, values in wanted.items():
        assert len(values) == len(got[key]), (what, key, values, got[key])
        assert all(is_near(*pair, bound) for pair in zip(got[key], values)), (what, key, values, got[key])


for keys in (["d"], ["i"], ["h"], ["w"], ["w0"], ["n"], ["b"], ["k", "d"], ["n", "w", "d"]):
    wanted = own(keys)
    for source in (table, pieces):
        for text in ("dictionary", "utf8"):
            check(rows_of(warpage.groupby(source, keys, AGGREGATES, text=text), len(keys)), wanted, keys)
    parts = [warpage.groupby(table.slice(first, 300), keys, AGGREGATES, partial=True) for first in range(0, ROWS, 300)]
    check(rows_of(warpage.merge(parts, keys, AGGREGATES), len(keys)), wanted, ("merged", keys))
schema = warpage.groupby(table, ["d", "h", "w", "n"], ["sum:d", "avg:d", "max:b", "min:d"]).to_arrow().schema
assert [str(type_) for type_ in schema.types[:2]] == ["decimal128(12, 2)", "float"], schema
assert [str(type_) for type_ in schema.types[3:]] == ["null", "decimal128(38, 2)", "double", "bool", "decimal128(12, 2)"], schema

# A column of type null has no values: the results are NULL, counts are 0.
empty = pyarrow.table({"k": [1, 1, 2], "n": pyarrow.array([None] * 3)})
AGGREGATES_OF_NULL = ["sum:n", "avg:n", "min:n", "median:n", "count:n", "count_distinct:n"]
wanted = {(1,): [None] * 4 + [0, 0], (2,): [None] * 4 + [0, 0]}
check(rows_of(warpage.groupby(empty, ["k"], AGGREGATES_OF_NULL), 1), wanted, "null")
parts = [warpage.groupby(empty.slice(row), ["k"], AGGREGATES_OF_NULL[:3], partial=True) for row in (0, 2)]
check(rows_of(warpage.merge(parts, ["k"], AGGREGATES_OF_NULL[:3]), 1), {key: values[:3] for key, values in wanted.items()}, "null, merged")

wide = pyarrow.table({"k": pyarrow.array([decimal.Decimal(2**70)], pyarrow.decimal128(38, 0)), "l": [[1]], "t": ["x"],
                      "h": pyarrow.array([decimal.Decimal(1)], pyarrow.decimal256(60, 0))})
for keys, aggregates, part in (("h", "count", "'h' has Arrow's type decimal256(60, 0),"), ("l", "count", "'l' has Arrow's type list,"),
                               ("t", "sum:t", "sum:t: the column has no numbers")):
    try:
        warpage.groupby(wide, keys, aggregates)
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError(part)

# Decimals beyond 64 bits: counts, sums and averages, whole and by partials; a sum beyond 38 digits fails.
numbers = [None if random_.random() < 0.1 else decimal.Decimal(random_.choice([-1, 1]) * random_.randrange(10**random_.choice([3, 20, 34]))).scaleb(-3)
           for _ in range(ROWS)]
wide = pyarrow.table({"k": [row % 7 for row in range(ROWS)], "j": pyarrow.array([None if row == 500 else row % 3 for row in range(ROWS)], pyarrow.int32()),
                      "i": pyarrow.array([0] * ROWS, pyarrow.int32()), "v": pyarrow.array(numbers, pyarrow.decimal128(38, 3))})
AGGREGATES = ["sum:v", "count:v", "avg:v", "count"]
with decimal.localcontext() as context:
    context.prec = 60
    for keys in (["k"], ["j", "i"]):
        groups = {}
        for row in wide.to_pylist():
            groups.setdefault(tuple(row[key] for key in keys), []).append(row["v"])
        wanted = {key: [sum(known), len(known), float(sum(known) / len(known)), len(values)]
                  for key, values in groups.items() for known in [[v for v in values if v is not None]]}
        batches = pyarrow.Table.from_batches(wide.to_batches(90))
        for source in (wide, batches):
            got = warpage.groupby(source, keys, AGGREGATES)
            check(rows_of(got, len(keys)), wanted, ("wide", keys))
        assert str(got.to_arrow().schema.field("sum_v").type) == "decimal128(38, 3)"
        parts = [warpage.groupby(wide.slice(first, 300), keys, AGGREGATES, partial=True) for first in range(0, ROWS, 300)]
        check(rows_of(warpage.merge(parts, keys, AGGREGATES), len(keys)), wanted, ("wide, merged", keys))
for value, count, part in ((6 * 10**37, 2, "sum_v: a sum does not fit decimal(38,0)"), (-6 * 10**37, 2, "does not fit decimal(38,0)"),
                           (10**38 - 1, 9, "sum:v: a sum does not fit a decimal of 38 digits"), (-(10**38 - 1), 1, None)):
    full = pyarrow.table({"k": [1] * count, "v": pyarrow.array([decimal.Decimal(value)] * count, pyarrow.decimal128(38, 0))})
    try:
        assert warpage.groupby(full, "k", "sum:v").to_dict()["sum_v"] == [value] and part is None
    except OverflowError as error:
        assert part is not None and part in str(error), error

# As keys, and extremes, distinct values, quantiles and variances of them: pyarrow's own groups; what it lacks, by Python.
AGGREGATES = ["count", "min:v", "max:v", "count_distinct:v", "sum:v", "median:v", "quantile:v:0.3", "var:v", "stddev:v"]
decimal.getcontext().prec = 90
LARGEST = decimal.Decimal(10**38 - 1).scaleb(-4)


def spread(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def quantile(values, share):
    """As Spark's percentile: of the values as doubles."""
    values, position = sorted(values), (len(values) - 1) * share
    below = int(position)
    low, high = float(values[below]), float(values[min(below + 1, len(values) - 1)])
    return low if low == high or position == below else (below + 1 - position) * low + (position - below) * high


for largest, count, null_share in ((LARGEST, 700, 0.15), (decimal.Decimal(2**63 + 12), 300, 0.5), (LARGEST, 1, 0), (LARGEST, 5, 1)):
    pool = [largest, -largest, decimal.Decimal(0), decimal.Decimal("-0.0001")] + \
        [decimal.Decimal(random_.randrange(-10**digits, 10**digits)).scaleb(-4) for digits in (3, 9, 18, 19, 20, 27, 36, 38)]
    pool = [value for value in pool if abs(value) <= largest]

    def wide_column(divisor=1):
        values = [None if random_.random() < null_share else random_.choice(pool) for _ in range(count)]
        return pyarrow.array([value and (value / divisor).quantize(decimal.Decimal("0.0001")) for value in values],
                             pyarrow.decimal128(38, 4))

    wide = pyarrow.table({"d": wide_column(), "e": wide_column(), "k": [row % 3 for row in range(count)],
                          "v": wide_column(1000)})  # sums of them fit 38 digits
    batches = pyarrow.Table.from_batches(wide.to_batches(90))
    for keys in (["d"], ["e", "k"], ["d", "e"], ["k"]):
        own = wide.group_by(keys).aggregate([([], "count_all"), ("v", "min"), ("v", "max"), ("v", "count_distinct"), ("v", "sum"), ("v", "list")])
        wanted = {}
        for row in own.to_pylist():
            known = [value for value in row["v_list"] if value is not None]
            by_python = [quantile(known, 0.5), quantile(known, 0.3)] if known else [None, None]
            by_python += [float(spread(known)), float(spread(known).sqrt())] if len(known) > 1 else [None, None]
            wanted[tuple(row[key] for key in keys)] = [row["count_all"], row["v_min"], row["v_max"], row["v_count_distinct"], row["v_sum"],
                                                       *by_python]
        for source in (wide, batches):
            got = warpage.groupby(source, keys, AGGREGATES)
            check(rows_of(got, len(keys)), wanted, ("wide keys", keys, largest))
        assert got.to_dict()[keys[0]] == got.to_arrow()[keys[0]].to_pylist()
        assert str(got.to_arrow().schema.field("min_v").type) == "decimal128(38, 4)"
        numbers = [row[0] for row in zip(*(got.to_arrow()[key].to_pylist() for key in keys)) if row[0] is not None]
        assert numbers == sorted(numbers), "groups are in the order of decimals"
        some = [name for name in AGGREGATES if name.split(":")[0] not in ("count_distinct", "median", "quantile")]
        places = [AGGREGATES.index(name) for name in some]
        parts = [warpage.groupby(wide.slice(first, 300), keys, some, partial=True) for first in range(0, count, 300)]
        check(rows_of(warpage.merge(parts, keys, some), len(keys)), {key: [row[i] for i in places] for key, row in wanted.items()},
              ("wide keys, merged", keys), 1e-9)
    on_device = warpage.groupby(wide, ["d", "e"], AGGREGATES, device="sim:k80")
    check(rows_of(on_device, 2), rows_of(warpage.groupby(wide, ["d", "e"], AGGREGATES), 2), ("wide keys", "sim:k80"), 1e-9)

# Samples: the truth lies within 1.5 intervals of 99.99 %; chunks that differ are strata.
values = [random_.random() + (row // 50_000) for row in range(150_000)]
for chunks in (1, 3):
    source = pyarrow.table({"v": pyarrow.chunked_array([pyarrow.array(values[first::chunks] if chunks == 1 else
                            values[first * 50_000:(first + 1) * 50_000], pyarrow.float64()) for first in range(chunks)])})
    sample = warpage.sample(source, "v", 20_000, seed=3, confidence=0.9999)
    assert sample.rows == len(values) and sample.reads >= 20_000
    assert abs(sample.mean - sum(values) / len(values)) < 1.5 * sample.mean_error, sample
    assert abs(sample.sum - sum(values)) < 1.5 * sample.sum_error, sample
    assert sample == warpage.sample(source, "v", 20_000, seed=3, confidence=0.9999)
for arguments, part in ((("w",), "no column 'w'"), (("v", 0), "n is 0"), (("v", 5), None)):
    try:
        warpage.sample(source, *arguments)
        assert part is None, part
    except warpage.WarpageError as error:
        assert part is not None and part in str(error), error

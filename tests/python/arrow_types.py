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


def is_near(a, b):
    return a == b or isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-12 * abs(a)


def check(got, wanted, what):
    assert set(got) == set(wanted), (what, set(got) ^ set(wanted))
    for key, values in wanted.items():
        assert len(values) == len(got[key]) and all(map(is_near, got[key], values)), (what, key, values, got[key])


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

wide = pyarrow.table({"k": pyarrow.array([decimal.Decimal(2**70)], pyarrow.decimal128(38, 0)), "l": [[1]], "t": ["x"]})
for keys, aggregates, part in (("k", "count", "column 'k' has a decimal of more than 64 bits"), ("l", "count", "'l' has Arrow's type '+l'"),
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
for aggregate in ("max:v", "var:v", "median:v"):
    try:
        warpage.groupby(full, "k", aggregate)
    except warpage.WarpageError as error:
        assert "which has a count, sum and average" in str(error), error
    else:
        raise AssertionError(aggregate)

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

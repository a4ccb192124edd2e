# SPDX-License-Identifier: Apache-2.0
"""Partials of any split of the rows merge to what one call returns; streams are read once, batch by batch; types on
request. Exit status 77: pyarrow is not there."""
import os
import random
import sys

try:
    import pyarrow as pa
except ImportError:
    sys.exit(77)
import warpage

SEED = int(os.environ.get("SEED", "7"))
random_ = random.Random(SEED)
print("SEED=%d" % SEED)
ROWS = 3000
AGGREGATES = ["count", "count:i", "sum:i", "avg:i", "min:i", "max:i", "sum:u", "avg:u", "sum:f", "avg:f", "min:f", "max:d", "count:t"]


def drawn(pool, null_share, type_):
    return pa.array([None if random_.random() < null_share else random_.choice(pool) for _ in range(ROWS)], type_)


def table(null_share):
    return pa.table({
        "a": drawn(range(12), null_share, pa.int32()), "b": drawn([-2**31, 0, 2**31 - 1], null_share, pa.int32()),
        "t": drawn(["", "x", "long " * 5, "\0"], null_share, pa.string()), "k": drawn([True, False], null_share, pa.bool_()),
        "w": drawn([-2**63, 2**63 - 1, 4], null_share, pa.int64()),
        "i": drawn([-2**51, 2**51, 3, 2**33], null_share, pa.int64()), "u": drawn([2**51, 1], null_share, pa.uint64()),
        "f": drawn([0.25, -0.0, 1e6, float("inf")], null_share, pa.float64()), "d": drawn(range(300), null_share, pa.date32())})


def rows_of(groups):
    return [tuple(row.values()) for row in groups.to_arrow().to_pylist()]


def cut(t, pieces):
    cuts = [0] + sorted(random_.randint(0, len(t)) for _ in range(pieces - 1)) + [len(t)]
    return [t.slice(first, outer - first) for first, outer in zip(cuts, cuts[1:])]


def same(a, b):
    return repr(a) == repr(b)  # NaN, and -0


for keys in (["a"], ["t"], ["k"], ["w"], ["a", "b"], ["t", "a"], ["w", "t"], ["k", "t", "b"]):
    for null_share in (0, 0.1):
        t = table(null_share)
        whole = warpage.groupby(t, keys, AGGREGATES)
        for pieces in (1, 2, 9):
            partials = [warpage.groupby(piece, keys, AGGREGATES, partial=True, sort=False) for piece in cut(t, pieces)]
            merged = warpage.merge(partials, keys, AGGREGATES)
            assert same(rows_of(merged), rows_of(whole)), (keys, null_share, pieces)
            assert merged.to_arrow().schema == whole.to_arrow().schema, merged.to_arrow().schema
            # From one table, as a consumer passes it on: dictionaries become texts, metadata are lost.
            flat = pa.concat_tables([warpage.groupby(piece, keys, AGGREGATES, partial=True, text="utf8").to_arrow() for piece in cut(t, pieces)])
            merged = warpage.merge(flat.replace_schema_metadata(None), keys, AGGREGATES)
            assert same(rows_of(merged), rows_of(whole)), (keys, null_share, pieces)
        # NULL in the last batches only.
        late = pa.concat_tables([table(0), t, table(0)])
        ours = rows_of(warpage.groupby(late.to_reader(max_chunksize=700), keys, AGGREGATES))
        assert same(ours, rows_of(warpage.groupby(late.combine_chunks(), keys, AGGREGATES))), (keys, null_share)

# Sums: partial ones leave 64 bits, the whole does not; and one that does.
high = pa.table({"k": [1, 1], "v": [2**63 - 1] * 2})
low = pa.table({"k": [1, 1], "v": [-2**63] * 2})
parts = [warpage.groupby(t, "k", "sum:v", partial=True) for t in (high, low)]
assert parts[0].to_arrow().schema.field("sum_v").type == pa.decimal128(38, 0)
assert parts[0].to_dict() == {"k": [1], "sum_v": [2**64 - 2]}
assert warpage.merge(parts, "k", "sum:v").to_dict() == {"k": [1], "sum_v": [-2]}
for call, part in ((lambda: warpage.merge(parts[:1], "k", "sum:v"), "sum:v: a sum does not fit int64"),
                   (lambda: warpage.merge(parts, "k", "avg:v"), "no column 'count_v'"),
                   (lambda: warpage.merge([], "k"), "nothing to merge"), (lambda: warpage.merge([7], "k"), "is not a table"),
                   (lambda: warpage.merge(high.rename_columns(["k", "sum_v"]), "k", "sum:v"), "is no partial sum"),
                   (lambda: warpage.groupby(high, "k", counts="int32"), "counts 'int32' is none of"),
                   (lambda: warpage.groupby(high, "k", text="json"), "text 'json' is none of")):
    try:
        call()
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

# Types on request.
t = pa.table({"t": ["b", None, "a", "b"], "z": [b"\0", b"", None, b"\0"]})
groups = warpage.groupby(t, ["t", "z"], ["count", "count:t"], counts="int64", text="utf8")
assert [str(field.type) for field in groups.to_arrow().schema] == ["string", "binary", "int64", "int64"], groups.to_arrow().schema
assert rows_of(groups) == [("a", None, 1, 1), ("b", b"\0", 2, 2), (None, b"", 1, 0)], rows_of(groups)
assert rows_of(warpage.groupby(t.slice(0, 0), "t", text="utf8")) == []

# A stream is asked for once, and a batch is gone before the third one after it comes.
BATCH = 100000


def batches():
    for number in range(30):
        high_water.append(pa.total_allocated_bytes() - before)
        yield pa.record_batch({"k": pa.array([number % 3] * BATCH, pa.int64()), "t": pa.array(["a", "bc"] * (BATCH // 2))})


class Once:
    calls = 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.calls += 1
        schema = pa.schema({"k": pa.int64(), "t": pa.string()})
        return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__(requested_schema)


for keys in (["k"], ["t"], ["k", "t"]):
    high_water, before, once = [], pa.total_allocated_bytes(), Once()
    groups = warpage.groupby(once, keys, ["count"])
    assert sum(groups.to_dict()["count"]) == 30 * BATCH and once.calls == 1
    assert max(high_water) < 4 * BATCH * 20, max(high_water)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Group-by of random tables against SQLite: usage: groupby_sqlite.py LIBRARY [SEED]"""
import ctypes
import math
import pathlib
import random
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/ops"))
import ops_library as ops  # noqa: E402

TABLES = 40
LIMITS = {"int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**63}


def draw_integer(source, kind, groups, shape):
    limit = LIMITS[kind]
    if shape == "extreme":
        return source.choice([0, 1, -1, limit - 1, -limit])
    if shape == "equal":
        return 3
    number = int(groups * source.random() ** (8 if shape == "skewed" else 1))
    return (number + limit) % (2 * limit) - limit if shape == "far" else number % limit


def draw_column(source, kind, rows, draw, null_share):
    return [None if source.random() < null_share else draw(source, kind) for _ in range(rows)]


def column_of(kind, values, keep):
    """A Column of the values; what it points at goes to `keep`."""
    number = ops.TYPES.index(kind)
    memory = (ops.C_TYPES[number] * max(1, len(values)))(*[0 if value is None else value for value in values])
    bits = None
    if None in values:
        bits = (ctypes.c_uint8 * (len(values) // 8 + 1))()
        for row, value in enumerate(values):
            bits[row // 8] |= (value is not None) << row % 8
    keep += [memory, bits]
    return ops.Column(number, ctypes.addressof(memory), ctypes.addressof(bits) if bits else None, 0)


def draw_table(source):
    rows = source.choice([0, 1, 2, 100, 3000, 12000])
    groups = source.choice([1, 10, 1000, 10**6])
    keys = [source.choice(list(LIMITS)) for _ in range(source.choice([1, 1, 1, 2, 3]))]
    null_share = source.choice([0, 0, 0.1, 0.9])
    columns = []
    for kind in keys:
        shape = source.choice(["uniform", "skewed", "equal", "extreme", "far"])
        columns.append(draw_column(source, kind, rows, lambda s, k, g=groups, h=shape: draw_integer(s, k, g, h),
                                   null_share))
    values = source.choice([["int64"], ["int32", "int16"], ["int8"], ["float64"]])
    for kind in values:
        draw = ((lambda s, k: s.randrange(-1000, 1000) / 8) if kind == "float64" else
                (lambda s, k: s.randrange(-min(LIMITS[k], 2**40), min(LIMITS[k], 2**40))))
        columns.append(draw_column(source, kind, rows, draw, null_share))
    return keys, values, columns, rows


def by_sqlite(keys, values, columns, rows):
    names = [f"k{i}" for i in range(len(keys))] + [f"v{i}" for i in range(len(values))]
    database = sqlite3.connect(":memory:")
    database.execute(f"create table t ({', '.join(names)})")
    database.executemany(f"insert into t values ({', '.join('?' * len(names))})", zip(*columns) if rows else [])
    aggregates = ["count(*)"] + [f"{op}(v{i})" for i in range(len(values)) for op in ops.OPS]
    by = ", ".join(names[:len(keys)])
    return set_of(database.execute(f"select {by}, {', '.join(aggregates)} from t group by {by}").fetchall(), len(keys))


def set_of(rows, key_count):
    table = {row[:key_count]: row[key_count:] for row in rows}
    assert len(table) == len(rows), "a group came twice"
    return table


def by_ours(library, table, chunk_count):
    keys, values, columns, rows = table
    keep, chunks = [], []
    bounds = [rows * i // chunk_count for i in range(chunk_count + 1)]
    for first, outer in zip(bounds, bounds[1:]):
        made = [column_of(kind, column[first:outer], keep) for kind, column in zip(keys + values, columns)]
        chunks.append((made[:len(keys)], made[len(keys):], outer - first))
    aggregates = [("count", None)] + [(op, i) for i in range(len(values)) for op in ops.OPS]
    groups = library.groupby([(kind, True) for kind in keys] if any(None in column for column in columns[:len(keys)])
                             else [(kind, False) for kind in keys], values, aggregates, chunks)
    found = [tuple(groups.key(i).at(row) for i in range(len(keys))) +
             tuple(groups.aggregate(i).at(row) for i in range(len(aggregates))) for row in range(groups.count)]
    groups.close()
    return set_of(found, len(keys))


def is_same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-9)
    return a == b


def main():
    library = ops.OpsLibrary(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261122
    for number in range(TABLES):
        source = random.Random(seed + number)
        table = draw_table(source)
        wanted, found = by_sqlite(*table), by_ours(library, table, source.choice([1, 2, 5]))
        what = f"seed {seed + number}: {table[3]} rows, keys {table[0]}, values {table[1]}"
        if wanted.keys() != found.keys():
            sys.exit(f"{what}: {len(found)} groups, SQLite has {len(wanted)}; "
                     f"not in both: {list(wanted.keys() ^ found.keys())[:5]}")
        for key, row in wanted.items():
            if not all(map(is_same, row, found[key])):
                sys.exit(f"{what}: group {key}: {found[key]}, SQLite has {row}")
    print(f"{TABLES} tables as SQLite groups them, seeds {seed} to {seed + TABLES - 1}")


if __name__ == "__main__":
    main()

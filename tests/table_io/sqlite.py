#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""warpage groupby against SQLite, on random CSV: sqlite.py WARPAGE [SEED [TABLES]]

Keys are numbers and texts with skew, quotes, delimiters, line ends, NULLs; values have NULLs and signs, as
multiples of 1/4, so that sums are the same in any order. Each table is read plain, packed by gzip, through
stdin, as TSV, or without a header; most with a condition, an order of groups, a limit. Exit status 77: there
is no sqlite3 module."""
import gzip
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import sqlite3
except ImportError:
    sys.exit(77)

TEXTS = ["", "a", "b", "zürich", 'say "x"', "two\nlines", "x,y", "tab\tin", " ", "NULL", "0", "-1", "é" * 40, "\r\n",
         "'", '"', '""', "a,b\n\"c\""]


def make_rows(random_, row_count):
    """(k, t, i, f): an integer and a text key, an integer and a float value; None is NULL."""
    groups = random_.choice([1, 3, 50, 5000])
    words = TEXTS if random_.random() < 0.5 else ["w%d" % i for i in range(random_.choice([2, 40, 3000]))]
    low = random_.choice([-5, 0, -2**63, 2**63 - groups])

    def maybe(value):
        return None if random_.random() < nulls else value

    nulls = random_.choice([0, 0.1, 0.9])
    return [(maybe(low + min(random_.randrange(groups), random_.randrange(groups))),
             maybe(random_.choice(words)),
             maybe(random_.randrange(-2**31, 2**31)),
             maybe(random_.randrange(-10**6, 10**6) / 4)) for _ in range(row_count)]


def field(value, delimiter, random_):
    if value is None:
        return ""
    text = repr(value) if isinstance(value, float) else str(value)
    if text == "" or any(c in text for c in (delimiter, '"', "\n", "\r")) or random_.random() < 0.1:
        return '"' + text.replace('"', '""') + '"'
    return text


def to_csv(rows, delimiter, has_header, end, random_):
    lines = [delimiter.join(["k", "t", "i", "f"])] if has_header else []
    lines += [delimiter.join(field(v, delimiter, random_) for v in row) for row in rows]
    text = end.join(lines)
    return text if random_.random() < 0.3 else text + end


AGGREGATES = ["count", "count:i", "sum:i", "min:i", "max:i", "avg:i", "count:t", "sum:f", "min:f", "max:f", "avg:f"]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def make_condition(rows, random_):
    """Comparisons as (column, test); with constants that are in the table, near them, or anywhere."""
    def constant(column, number):
        values = [row[number] for row in rows if row[number] is not None]
        value = random_.choice(values) if values else 0 if column != "t" else "a"
        if column == "t":
            return quoted(random_.choice([value, random_.choice(TEXTS), value + "a", value[:1]]))
        return repr(random_.choice([value, value + 1, value - 0.5, 0, -1e3, 2**63 - 1, -2**63]))

    def comparison():
        number = random_.randrange(4)
        column = "ktif"[number]
        if random_.random() < 0.2:
            return column, random_.choice(["is null", "is not null", "IS NOT NULL"])
        test = random_.choice(["=", "==", "!=", "<>", "<", "<=", ">", ">="])
        space = random_.choice(["", " "])
        return column, space + test + space + constant(column, number)

    return [comparison() for _ in range(random_.choice([0, 0, 1, 1, 2, 3]))]


def make_order(keys, random_):
    """Columns of the result, and whether each descends. Averages are left out: their last bits may differ."""
    columns = keys + [a for a in AGGREGATES if not a.startswith("avg")]
    return [(column, random_.random() < 0.5) for column in random_.sample(columns, random_.choice([0, 0, 1, 2, 3]))]


def in_sql(aggregate):
    return "count(*)" if aggregate == "count" else "%s(%s)" % tuple(aggregate.split(":")) if ":" in aggregate else aggregate


def by_sqlite(rows, keys, condition, order, limit):
    database = sqlite3.connect(":memory:")
    database.execute("create table t (k integer, t text, i integer, f real)")
    database.executemany("insert into t values (?, ?, ?, ?)", rows)
    names = ", ".join(keys)
    where = " and ".join("%s %s" % comparison for comparison in condition)
    columns = [in_sql(column) + (" desc" if descends else "") for column, descends in order] + keys
    return database.execute("select %s, %s from t %s group by %s order by %s limit %d" % (
        names, ", ".join(map(in_sql, AGGREGATES)), where and "where " + where, names,
        ", ".join(column + " nulls last" for column in columns), -1 if limit is None else limit)).fetchall()


def by_warpage(program, folder, rows, keys, condition, order, limit, random_):
    delimiter = random_.choice([",", ",", ";", "\t"])
    has_header = not rows or random_.random() < 0.8
    text = to_csv(rows, delimiter, has_header, random_.choice(["\n", "\r\n"]), random_).encode()
    names = dict(zip("ktif", "ktif" if has_header else ["c1", "c2", "c3", "c4"]))
    rename = lambda a: a if ":" not in a else a.split(":")[0] + ":" + names[a.split(":")[1]]
    types = ",".join("%s:%s" % (names[c], t) for c, t in
                     [("k", "int64"), ("t", "text"), ("i", "int64"), ("f", "float64")])
    command = [program, "groupby", "--key", ",".join(names[k] for k in keys), "--agg",
               ",".join(map(rename, AGGREGATES)), "--types", types, "--threads", str(random_.choice([1, 2, 3]))]
    if not has_header:
        command.append("--no-header")
    if condition:
        name = lambda c: random_.choice([names[c], '"%s"' % names[c]])
        command += ["--where", random_.choice([" and ", "  AND "]).join(name(c) + (
            " " if test[0] == "i" or test[0] == "I" else "") + test for c, test in condition)]
    if order:
        column = lambda c: names[c] if c in names else random_.choice([rename(c), rename(c).replace(":", "_")])
        command += ["--order-by", ",".join(column(c) + (":desc" if descends else random_.choice(["", ":asc"]))
                                           for c, descends in order)]
    if limit is not None:
        command += ["--limit", str(limit)]
    how = random_.choice(["plain", "gzip", "stdin"])
    path = os.path.join(folder, "t.tsv" if delimiter == "\t" and how != "stdin" else "t.csv")
    if delimiter == ";" or (delimiter == "\t" and how == "stdin"):
        command += ["--delimiter", delimiter]
    with open(path, "wb") as file:
        file.write(gzip.compress(text) if how == "gzip" else text)
    with open(path, "rb") as stdin:
        result = subprocess.run(command + ["-" if how == "stdin" else path], stdin=stdin, capture_output=True)
    if result.returncode != 0:
        raise AssertionError("%s\n%s" % (" ".join(command), result.stderr.decode()))
    return result.stdout.decode()


def parse(text, key_count, keys):
    """Rows of the result. csv.reader does not tell NULL from an empty text, so fields are taken apart here."""
    rows, row, i = [], [], 0
    while i < len(text):
        if text[i] == '"':
            value, i = "", i + 1
            while not (text[i] == '"' and text[i + 1] != '"'):
                i += text[i] == '"'
                value += text[i]
                i += 1
            i += 1
        else:
            end = min(e for e in (text.find(",", i), text.find("\n", i)) if e >= 0)
            value, i = (text[i:end] or None), end
        row.append(value)
        if text[i] == "\n":
            rows.append(row)
            row = []
        i += 1
    header, rows = rows[0], rows[1:]
    number = lambda v: None if v is None else float(v) if any(c in v for c in ".en") else int(v)
    for row in rows:
        for i in range(len(row)):
            if i >= key_count or keys[i] == "k":
                row[i] = number(row[i])
    return header, rows


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12, abs_tol=0)
    return a == b


def check(program, seed):
    random_ = random.Random(seed)
    rows = make_rows(random_, random_.choice([0, 1, 2, 100, 3000, 60000]))
    keys = random_.choice([["k"], ["t"], ["k", "t"], ["t", "k"]])
    condition, order = make_condition(rows, random_), make_order(keys, random_)
    limit = random_.choice([None, None, 0, 1, 10, 10**6])
    with tempfile.TemporaryDirectory() as folder:
        _, ours = parse(by_warpage(program, folder, rows, keys, condition, order, limit, random_), len(keys), keys)
    theirs = by_sqlite(rows, keys, condition, order, limit)
    if len(ours) != len(theirs):
        raise AssertionError("%d groups, SQLite has %d" % (len(ours), len(theirs)))
    for left, right in zip(ours, theirs):
        if not all(same(a, b) for a, b in zip(left, right)):
            raise AssertionError("%r, SQLite has %r" % (left, right))


def main():
    program = sys.argv[1]
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + (int(sys.argv[3]) if len(sys.argv) > 3 else 40)):
        try:
            check(program, seed)
        except AssertionError as error:
            sys.exit("seed %d: %s" % (seed, error))


main()

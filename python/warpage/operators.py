# SPDX-License-Identifier: Apache-2.0
"""warpage.groupby and warpage.merge: the calls.

A plan has the library's aggregates for what was asked, and how columns of the result are made of them:

    groupby               avg:c ─► AVG c                                  ─► a column
    groupby, partial      avg:c ─► SUM_LOW c, SUM_HIGH c, COUNT c         ─► sum_c as decimal, count_c
    merge                 avg:c ─► SUM of three pieces of sum_c, of count_c ─► joined, divided
"""
import collections.abc
import ctypes
import difflib
import itertools
import operator
import os
from typing import Any, Dict, Sequence, Tuple, Union
from warpage import native
from warpage.groups import Groups, Lists, Result, Runs
from warpage.native import ArgumentError, StreamError, SumError, TableTypeError, WarpageError
from warpage.table import ArrowTable, Tables, check_names, is_decimal, is_wide, open_table, scale_of


OPERATIONS = native.OPERATIONS + native.SPREADS + native.DISTRIBUTIONS


# Names that other packages have for aggregates.
_OTHER_NAMES = {"mean": "avg", "average": "avg", "std": "stddev", "stddev_samp": "stddev", "variance": "var", "var_samp": "var",
                "n_unique": "count_distinct", "nunique": "count_distinct", "len": "count", "size": "count", "percentile": "quantile",
                "total": "sum"}


def _aggregates_are(name):
    """For errors: the aggregates' names, and which one is near."""
    written = str(name).strip().lower()
    operation, _, column = written.partition("(")
    if column.endswith(")") and (operation in OPERATIONS or operation in _OTHER_NAMES):  # as in SQL
        operation, column = _OTHER_NAMES.get(operation, operation), str(name).strip()[len(operation) + 1:-1]
        return "%s; did you mean '%s'?" % (", ".join(OPERATIONS), operation if column == "*" else "%s:%s" % (operation, column))
    near = _OTHER_NAMES.get(written) or next(iter(difflib.get_close_matches(written, OPERATIONS, 1)), None)
    return ", ".join(OPERATIONS) + ("; did you mean '%s'?" % near if near else "")


class Named(str):
    """A name that the caller has for an aggregate's column: total=("price", "sum")."""


def default_name(operation, column):
    """Of an aggregate's column."""
    if operation == "quantile":
        return "quantile_%s_%s" % (column, "%.15g" % operation.share)
    return str(operation) if column is None else "%s_%s" % (operation, column)


def _with_default_names(aggregates):
    """For partials, whose columns serve any name."""
    return [(operation, column, default_name(operation, column)) for operation, column, _ in aggregates]


class Quantile(str):
    """The operation "quantile", or "median"."""

    share = 0.5


def _quantile(column, share):
    try:
        operation = Quantile("quantile")
        operation.share = float(share)
    except (TypeError, ValueError):
        operation.share = -1
    if not 0 <= operation.share <= 1:
        raise ArgumentError("quantile:%s: at which share, from 0 to 1? \"quantile:%s:0.9\"" % (column, column))
    return operation, column, default_name(operation, column)


def parse_aggregate(aggregate):
    """"sum:price", ("sum", "price"), ("price", "sum"), "count", "quantile:price:0.9" -> operation, column or None, name."""
    share = None
    if isinstance(aggregate, str):
        operation, _, column = aggregate.partition(":")
        if operation == "quantile":
            column, _, share = column.rpartition(":") if ":" in column else (column, "", "")
    elif isinstance(aggregate, (tuple, list)) and len(aggregate) in (2, 3):
        operation, column, *share = aggregate
        share = share[0] if share else None
        if operation not in OPERATIONS and (column in OPERATIONS or column in _OTHER_NAMES and operation not in _OTHER_NAMES):
            operation, column = column, operation
    else:
        raise ArgumentError("%r is no aggregate; write \"sum:price\", (\"price\", \"sum\") or sum=\"price\"" % (aggregate,))
    column = None if column == "*" and operation == "count" else column or None
    if operation not in OPERATIONS or share is not None and operation != "quantile":
        raise ArgumentError("'%s': the aggregates are %s" % (operation, _aggregates_are(operation)))
    if column is None and operation != "count":
        raise ArgumentError("%s: of which column? %s:COLUMN%s" % (operation, operation, ":0.9" if operation == "quantile" else ""))
    if operation == "quantile":
        return _quantile(column, share)
    return Quantile(operation) if operation == "median" else operation, column, default_name(operation, column)


def parse_aggregates(aggs, named):
    """Those of a list, then those that are named: sum="price", max=["price", "weight"], quantile=("price", 0.9),
    count=True, total=("price", "sum"); or a dict of columns, {"price": "sum", "weight": ["min", "max"]}. None: "count"."""
    if isinstance(aggs, dict):
        for column, operations in aggs.items():
            if not isinstance(operations, (str, list, tuple, set)):
                raise ArgumentError("{%r: %r}: of a column, the names of aggregates, such as {%r: [\"sum\", \"max\"]}" %
                                    (column, operations, column))
        aggs = [(operation, None if column == "*" else column) for column, operations in aggs.items()
                for operation in ([operations] if isinstance(operations, str) else operations)]
    if not isinstance(aggs, (type(None), str, collections.abc.Iterable)):
        raise ArgumentError("%r is no aggregate; write \"sum:price\", (\"price\", \"sum\") or sum=\"price\"" % (aggs,))
    listed = [] if aggs is None else [aggs] if isinstance(aggs, str) or _is_pair(aggs) else list(aggs)
    for operation, columns in named.items():
        if operation not in OPERATIONS and _is_aggregate(columns):
            listed.append((operation, columns))
            continue
        if operation not in OPERATIONS:
            raise ArgumentError("'%s' is neither an option nor one of the aggregates %s" %
                                (operation, _aggregates_are(operation)))
        if columns is True:
            columns = [None]
        if not isinstance(columns, (str, collections.abc.Iterable)):
            raise ArgumentError("%s=%r: of which columns? %s=\"price\"" % (operation, columns, operation))
        if operation == "quantile":
            columns = [columns] if isinstance(columns, str) or _is_share(columns) else columns
            listed += [("quantile", *column) if _is_share(column) else ("quantile", column) for column in columns]
            continue
        listed += [(operation, column) for column in ([columns] if isinstance(columns, str) else columns)]
    return [_parse_named(*aggregate) if isinstance(aggregate, tuple) and aggregate[0] in named and aggregate[0] not in OPERATIONS
            else parse_aggregate(aggregate) for aggregate in (listed if listed or aggs is not None else ["count"])]


def _parse_named(name, aggregate):
    operation, column, _ = parse_aggregate(aggregate)
    return operation, column, Named(name)


def _is_aggregate(value):
    """Whether a value that is given by name is one aggregate: "count", "sum:price", ("price", "sum")."""
    if isinstance(value, str):
        return value == "count" or ":" in value
    return isinstance(value, (tuple, list)) and len(value) in (2, 3) and any(
        isinstance(word, str) and (word in OPERATIONS or word in _OTHER_NAMES) for word in value)


def _is_share(pair):
    """("price", 0.9)"""
    return isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], (int, float))


def _is_pair(aggs):
    """("price", "sum") is one aggregate, ("count", "sum:price") are two."""
    if isinstance(aggs, tuple) and len(aggs) == 3 and isinstance(aggs[2], (int, float)):
        return True
    return isinstance(aggs, tuple) and len(aggs) == 2 and all(isinstance(word, str) and ":" not in word for word in aggs) and \
        sum(word in OPERATIONS for word in aggs) == 1


def _choice(kind, names, value):
    if value not in names:
        raise ArgumentError("%s '%s' is none of %s" % (kind, value, ", ".join(names)))
    return names.index(value)


def _columns(parts, places, fields, are_keys):
    columns = ((field, parts[places[field.name]]) for field in fields)
    return (native.Column * max(1, len(fields)))(
        *(native.Column(field.type, part.values, None if are_keys and field.is_text else part.valid, part.valid_offset)
          for field, part in columns))


def _check_types(aggregates, fields):
    for operation, column, _ in aggregates:
        if operation in ("count", "count_distinct") or operation in ("min", "max") and fields[column].is_text:
            continue
        if fields[column].format == "n":
            continue
        if fields[column].is_text and not fields[column].is_number or (
                operation not in ("min", "max") and not fields[column].is_number):
            raise TableTypeError("%s:%s: the column has no numbers" % (operation, column))


# ---- plans -----------------------------------------------------------------------------------------------------

UNSIGNED = {b"warpage.sum": b"uint64"}  # a partial sum's metadata: the whole is one
DECIMAL = {b"warpage.sum": b"decimal"}
_INT64, _UINT64 = native.TYPES.index("int64"), native.TYPES.index("uint64")


def _decimal_sum(format_):
    """The format of sums of decimals; None: not of decimals."""
    return "d:38,%d" % scale_of(format_) if is_decimal(format_) else None


def _scale(field):
    return scale_of(field.format) if is_decimal(field.format) else 0


def is_distribution(operation, column, fields):
    """Whether an aggregate takes a group-by of its own, by the keys and the column."""
    return operation in native.DISTRIBUTIONS or operation in ("min", "max") and fields[column].is_text


class _Plan:
    def __init__(self, settings):
        self.aggregates, self.outputs = [], []  # (operation, column); functions that make a column of a Result
        self.weights = {}  # of columns of means: the columns of their counts
        self.runs = {}  # of columns that take a group-by of their own
        self._count_format = "l" if settings["counts"] == "int64" else None
        self._text = settings["text"]

    def _distribution(self, operation, column, name, fields):
        """Adds an aggregate that is made of runs."""
        self.runs.setdefault(column, None)
        if operation == "count_distinct":
            self.outputs.append(lambda r: self.runs[column].count_distinct(name, self._count_format))
        elif isinstance(operation, Quantile):
            self.outputs.append(lambda r: self.runs[column].quantile(operation.share, name, _scale(fields[column])))
        else:
            self.outputs.append(lambda r: self.runs[column].extreme(operation == "max", name, self.runs[column].field, self._text))

    def _sums(self, column, field):
        """A column's sums of 128 bits: the numbers of their parts."""
        if is_wide(field.format):
            return [self._add("sum", (column, piece)) for piece in ("high", "middle", "low")]
        return self._add("sum_high", column), None, self._add("sum_low", column)

    def _counts(self, column, fields):
        """A piece of a decimal is NULL where the decimal is."""
        return self._add("count", (column, "low") if column is not None and is_wide(fields[column].format) else column)

    def _moments(self, column, field, *parts):
        """The numbers of "mean" or "squares" of a column, and its values' scale."""
        wide = is_wide(field.format)
        return [self._add(part, (column, "double") if wide else column) for part in parts], 0 if wide else _scale(field)

    def _add(self, operation, column):
        """The number of the library's aggregate."""
        if (operation, column) not in self.aggregates:
            self.aggregates.append((operation, column))
        return self.aggregates.index((operation, column))

    @property
    def values(self):
        columns = [column for _, column in self.aggregates if column is not None]
        return list(dict.fromkeys(columns + list(self.weights.values())))

    def whole(self, aggregates, fields):
        for operation, column, name in aggregates:
            if is_distribution(operation, column, fields):
                self._distribution(operation, column, name, fields)
                continue
            if operation in native.SPREADS:
                (squares,), scale = self._moments(column, fields[column], "squares")
                self.outputs.append(_spread(operation, squares, None, self._counts(column, fields), name, scale))
                continue
            format_ = _decimal_sum(fields[column].format) if operation in ("sum", "avg") else None
            if format_ is not None:
                parts, counts = self._sums(column, fields[column]), self._counts(column, fields)
                self.outputs.append(_decimal_output(operation, parts, counts, name, format_))
                continue
            number = self._counts(column, fields) if operation == "count" else self._add(operation, column)
            format_ = fields[column].format if operation in ("min", "max") else \
                self._count_format if operation == "count" else None
            self.outputs.append(lambda r, n=number, name=name, f=format_: r.aggregate(n, name, f))

    def partial(self, aggregates, fields):
        names = set()

        def output(name, make):
            if name not in names:
                names.add(name)
                self.outputs.append(make)

        for operation, column, name in aggregates:
            if operation in native.DISTRIBUTIONS:
                raise ArgumentError("%s:%s has no partial form: bring all rows of a key together first" % (operation, column))
            if is_distribution(operation, column, fields):
                self._distribution(operation, column, name, fields)
                continue
            if operation in ("min", "max"):
                number = self._add(operation, column)
                output(name, lambda r, n=number, name=name, f=fields[column].format: r.aggregate(n, name, f))
            if operation in ("sum", "avg"):
                name = "sum_%s" % column
                if fields[column].is_float:
                    number = self._add("sum", column)
                    output(name, lambda r, n=number, name=name: r.aggregate(n, name))
                else:
                    parts = self._sums(column, fields[column])
                    metadata = UNSIGNED if native.TYPES[fields[column].type].startswith("u") else None
                    format_ = _decimal_sum(fields[column].format)
                    metadata = metadata if format_ is None else DECIMAL
                    output(name, lambda r, p=parts, name=name, m=metadata, f=format_ or "d:38,0": r.decimals(p, name, m, f))
            if operation in native.SPREADS:
                numbers, scale = self._moments(column, fields[column], "mean", "squares")
                for part, power, number in zip(("mean", "squares"), (1, 2), numbers):
                    name = "%s_%s" % (part, column)
                    output(name, lambda r, n=number, name=name, s=power * scale: r.scaled(n, name, s))
            if operation in ("count", "avg", *native.SPREADS):
                number = self._counts(column, fields)
                name = "count" if column is None else "count_%s" % column
                output(name, lambda r, n=number, name=name: r.aggregate(n, name, self._count_format))

    def finish(self, aggregates, fields):
        """Functions that make the whole's columns of the partial plan's aggregates, if no other partials follow."""
        at = self.aggregates.index

        def make(operation, column, name):
            if operation == "count":
                number = self._counts(column, fields)
                return lambda r: r.aggregate(number, name, self._count_format)
            if operation in native.SPREADS:
                (squares,), scale = self._moments(column, fields[column], "squares")
                return _spread(operation, squares, None, self._counts(column, fields), name, scale)
            if operation in ("min", "max"):
                return lambda r: r.aggregate(at((operation, column)), name, fields[column].format)
            if fields[column].is_float:
                number = at(("sum", column))
                return (lambda r: r.aggregate(number, name)) if operation == "sum" else \
                    (lambda r: r.average(None, number, at(("count", column)), name))
            parts = self._sums(column, fields[column])
            if is_decimal(fields[column].format):
                return _decimal_output(operation, parts, self._counts(column, fields) if operation == "avg" else None, name,
                                       _decimal_sum(fields[column].format))
            type_ = _UINT64 if native.TYPES[fields[column].type].startswith("u") else _INT64
            return (lambda r: _narrow(r, parts, column, type_, name)) if operation == "sum" else \
                (lambda r: r.average(r.decimals(parts, ""), None, at(("count", column)), name))

        return [make(*aggregate) for aggregate in aggregates]

    def merge(self, aggregates, fields):
        """`fields`: of the partials, by name."""
        for operation, column, name in aggregates:
            if operation in native.DISTRIBUTIONS:
                raise ArgumentError("%s:%s cannot be merged: it has no partial form" % (operation, column))
            source = default_name(operation, column)
            if operation in ("min", "max") and fields[source].is_text:
                self._distribution(operation, source, name, fields)
                continue
            if operation in ("min", "max"):
                number = self._add(operation, source)
                self.outputs.append(lambda r, n=number, name=name, f=fields[source].format: r.aggregate(n, name, f))
                continue
            counts = None
            if operation in native.SPREADS:
                mean = "mean_%s" % column
                self.weights[mean] = "count_%s" % column
                self.outputs.append(_spread(operation, self._add("sum", "squares_%s" % column), self._add("squares", mean),
                                            self._add("sum", self.weights[mean]), name))
                continue
            if operation in ("count", "avg"):
                counts = self._add("sum", "count" if column is None else "count_%s" % column)
            if operation == "count":
                self.outputs.append(lambda r, n=counts, name=name: self._count(r, n, name))
                continue
            source = "sum_%s" % column
            if fields[source].is_float:
                number = self._add("sum", source)
                make = (lambda r, n=number, name=name: r.aggregate(n, name)) if operation == "sum" else \
                    (lambda r, n=number, c=counts, name=name: r.average(None, n, c, name))
            else:
                parts = [self._add("sum", (source, piece)) for piece in ("high", "middle", "low")]
                if fields[source].metadata.get(b"warpage.sum") == b"decimal" or scale_of(fields[source].format):
                    self.outputs.append(_decimal_output(operation, parts, counts, name, fields[source].format))
                    continue
                type_ = _UINT64 if fields[source].metadata.get(b"warpage.sum") == b"uint64" else _INT64
                make = (lambda r, p=parts, c=column, t=type_, name=name: _narrow(r, p, c, t, name)) \
                    if operation == "sum" else \
                    (lambda r, p=parts, c=counts, name=name: r.average(r.decimals(p, ""), None, c, name))
            self.outputs.append(make)

    def _count(self, result, number, name):
        """Partial counts of either kind: a uint64, unless int64 was asked for."""
        column = result.aggregate(number, name)
        column.type = _UINT64
        column.format = self._count_format or "L"
        return column


def _spread(operation, squares, more, counts, name, scale=0):
    return lambda r: r.variance(squares, more, counts, operation == "stddev", name, scale)


def _decimal_output(operation, parts, counts, name, format_):
    if operation == "sum":
        return lambda r: r.decimals(parts, name, None, format_)
    return lambda r: r.average(r.decimals(parts, ""), None, counts, name, scale_of(format_))


def _narrow(result, parts, column, type_, name):
    narrow = result.narrow(result.decimals(parts, ""), name, type_)
    if narrow is None:
        raise SumError("sum:%s: a sum does not fit %s" % (column, native.TYPES[type_]))
    return narrow


def partial_names(aggregates):
    """The columns of partials, besides the keys."""
    names = []
    for operation, column, _ in aggregates:
        names += ["sum_%s" % column, "count_%s" % column] if operation == "avg" else \
            ["%s_%s" % (part, column) for part in ("mean", "squares", "count")] if operation in native.SPREADS else [default_name(operation, column)]
    return list(dict.fromkeys(names))


# ---- running ---------------------------------------------------------------------------------------------------

def _name_sum(error, aggregates):
    """An overflowing sum is reported with the name of its column."""
    head, _, rest = str(error).partition(": ")
    number = head[len("aggregate "):]
    if head.startswith("aggregate ") and number.isdigit() and int(number) < len(aggregates):
        operation, column = aggregates[int(number)]
        if isinstance(column, tuple):
            column, rest = column[0], "a sum does not fit a decimal of 38 digits"
        return SumError("%s:%s: %s" % (operation, column, rest))
    return error


def _spec(keys, nullable, values, aggregates, options, weights=None):
    places = {field.name: i for i, field in enumerate(values)}
    places[None] = native.ALL_ROWS
    return native.Spec(
        len(keys), len(values), len(aggregates),
        (native.Key * len(keys))(*(native.Key(field.type, is_nullable) for field, is_nullable in zip(keys, nullable))),
        (ctypes.c_int * max(1, len(values)))(*(field.type for field in values)),
        (native.Aggregate * max(1, len(aggregates)))(
            *(native.Aggregate(native.ALL_OPERATIONS.index(operation), places[column])
              for operation, column in aggregates)), options,
        (ctypes.c_void_p * len(keys))(*(field.texts.handle if field.is_text else None for field in keys)),
        (ctypes.c_uint32 * len(values))(*(places[weights.get(field.name)] for field in values)) if weights else None)


_Part = collections.namedtuple("_Part", "values valid valid_offset")  # of a column


def _with_numbers(lists, columns, places, row_count):
    """A chunk's columns with those of numbers of groups, which `lists` make, and what holds these. `lists`: (Lists, keys, field)."""
    columns, held = list(columns), []
    for one, keys, field in lists:
        address, memory = one.add(_columns(columns, places, keys, True), _columns(columns, places, [field], False), row_count)
        columns.append(_Part(address, None, 0))
        held.append(memory)
    return columns, held


def _run(device, parts, chunks, places, lists=()):
    """The results of group-bys that read the same chunks, and their explanations. `parts`: (spec, keys, values)."""
    with native.Device(device) as handle:
        opened = []
        try:
            for spec, _, _ in parts:
                opened.append(native.groupby_open(handle, spec))
            for row_count, columns in chunks:
                if row_count == 0:
                    continue
                columns, held = _with_numbers(lists, columns, places, row_count)
                for groupby_handle, (_, keys, values) in zip(opened, parts):
                    native.groupby_add(groupby_handle, _columns(columns, places, keys, True),
                                       _columns(columns, places, values, False), row_count)
                del held
            return [(Result(native.groupby_finish(groupby_handle)),
                     (native.groupby_explain(groupby_handle) or b"").decode(errors="replace")) for groupby_handle in opened]
        finally:
            for groupby_handle in opened:
                native.groupby_close(groupby_handle)


# A look at so many rows says whether lists are kept: if groups have so many of the rows each, and so many of the pairs of keys
# and value differ.
LOOK_ROWS, LOOK_ROWS_LEAST, LISTED_ROWS, LISTED_SHARE = 1 << 16, 1 << 14, 8, 0.9


class _Number:
    """The field of a column of groups' numbers."""
    type, is_text = native.TYPES.index("uint32"), False

    def __init__(self, name):
        self.name = name


class _Query:
    """A plan over a source."""

    def __init__(self, source, keys, plan, settings):
        self.plan, self.settings = plan, settings
        names = list(dict.fromkeys(keys + plan.values + list(plan.runs)))
        fields, self.chunks = source.select(names, keys + list(plan.runs), settings["threads"])
        by_name = {field.name: field for field in fields}
        self.places = {field.name: i for i, field in enumerate(fields)}
        self.keys, self.values = [by_name[k] for k in keys], [by_name[v] for v in plan.values]
        self.run_fields = [by_name[column] for column in plan.runs]

    def nullable_is_slower(self):
        """Whether the keys are a word of 64 bits only if none of them may be NULL. Texts have a code for it."""
        bits = sum(8 * native.TYPE_BYTES[field.type] for field in self.keys)
        return len(self.keys) > 1 and bits <= 64 < bits + sum(not field.is_text for field in self.keys)

    def nulls_of(self, parts):
        """For each key, whether it may be NULL in a chunk."""
        return [not field.is_text and bool(parts[self.places[field.name]].valid) for field in self.keys]

    def _options(self, sort):
        given = self.settings
        return native.Options(strategy=_choice("strategy", native.STRATEGIES, given["strategy"]),
                              placement=_choice("placement", native.PLACEMENTS, given["placement"]),
                              scope_bytes=given["scope_bytes"], memory_bytes=given["memory_bytes"],
                              thread_count=given["threads"], group_count=given["groups"], is_sorted=sort,
                              profile=None if given["profile"] is None else str(given["profile"]).encode())

    def _pairs(self, field, nullable, options):
        """A group-by of its own, by the keys and a column."""
        keys = self.keys + [field]
        return _spec(keys, nullable + [not field.is_text], [], [("count", None)], options), keys, []

    def _listed(self, head, nullable):
        """The columns of whose values lists are kept, as their pairs with the keys would hardly be fewer than the rows. By the
        first rows, `head`: a chunk."""
        fields = [field for field in self.run_fields if not field.is_text]
        rows = min(LOOK_ROWS, head[0]) if head else 0
        if not fields or rows < LOOK_ROWS_LEAST or self.settings["device"] != "cpu":
            return []
        options = self._options(False)
        parts = [(_spec(self.keys, nullable, [], [("count", None)], options), self.keys, [])]
        parts += [self._pairs(field, nullable, options) for field in fields]
        (groups, _), *pairs = _run("cpu", parts, [(rows, head[1])], self.places)
        if rows < LISTED_ROWS * groups.length:
            return []
        return [field for field, (result, _) in zip(fields, pairs) if result.length >= LISTED_SHARE * rows]

    def run(self, chunks, nullable, sort):
        options, chunks = self._options(sort), iter(chunks)
        head = next((chunk for chunk in chunks if chunk[0]), None) if self.run_fields else None
        chunks = itertools.chain([head], chunks) if head else chunks
        listed, lists, values = self._listed(head, nullable), [], list(self.values)
        aggregates, places = list(self.plan.aggregates), dict(self.places)
        for field in listed:
            number = _Number((field.name, "number"))
            spec = _spec(self.keys, nullable, [field], [], options)
            lists.append((Lists(native.lists_open(spec)), self.keys, field))
            places[number.name] = len(places)
            values.append(number)
            aggregates.append(("min", number.name))
        pairs = [field for field in self.run_fields if field not in listed]
        parts = [(_spec(self.keys, nullable, values, aggregates, options, self.plan.weights), self.keys, values)]
        parts += [self._pairs(field, nullable, options) for field in pairs]
        try:
            whole, *others = _run(self.settings["device"], parts, chunks, places, lists)
        except WarpageError as error:
            raise _name_sum(error, self.plan.aggregates) from None
        for number, (one, _, field) in enumerate(lists, len(self.plan.aggregates)):
            one.bind(whole[0], number)
            self.plan.runs[field.name] = one
        for field, (result, _) in zip(pairs, others):
            runs = Runs(result, len(self.keys))
            if runs.length != whole[0].length:
                raise WarpageError("the groups of column '%s' are not those of the keys" % field.name)
            runs.field = field
            self.plan.runs[field.name] = runs
        return whole

    def groups(self, result, explain, outputs, text=None):
        columns = [result.key(number, field, text or self.settings["text"]) for number, field in enumerate(self.keys)]
        return Groups(result.length, columns + [make(result) for make in outputs], explain)

    def all(self):
        is_sorted = self.settings["sort"] or bool(self.run_fields)  # runs are in the order of sorted groups
        result = self.run(self.chunks, [not field.is_text for field in self.keys], is_sorted)
        return self.groups(*result, self.plan.outputs)


def _whole(source, keys, aggregates, fields, settings):
    """Groups of all rows. Where keys that may be NULL are slower, they may be from the first chunk on that has a NULL:
    groups so far are partials then."""
    plan = _Plan(settings)
    plan.whole(aggregates, fields)
    query = _Query(source, keys, plan, settings)
    if plan.runs or not query.nullable_is_slower():
        return query.all()
    chunks = iter(query.chunks)
    ahead = list(itertools.islice(chunks, 2))
    nullable = [any(flags) for flags in zip(*(query.nulls_of(parts) for _, parts in ahead))] or [False] * len(keys)
    if len(ahead) < 2 or all(nullable[i] or field.is_text for i, field in enumerate(query.keys)):
        query.chunks = itertools.chain(ahead, chunks)
        return query.groups(*query.run(query.chunks, nullable, settings["sort"]), plan.outputs)

    query.plan = plan = _Plan(settings)
    plan.partial(_with_default_names(aggregates), fields)
    query.values = [next(f for f in query.values if f.name == v) for v in plan.values]
    finish = plan.finish(aggregates, fields)
    chunks, partials, pending = itertools.chain(ahead, chunks), [], []

    def without_new_nulls():
        """Chunks up to the first with a NULL in a key that has had none."""
        for row_count, parts in itertools.chain(pending[:], chunks):
            pending.clear()
            if any(is_null and not may for is_null, may in zip(query.nulls_of(parts), nullable)):
                pending.append((row_count, parts))
                return
            yield row_count, parts

    while True:
        result, explain = query.run(without_new_nulls(), nullable, settings["sort"])
        if not pending and not partials:
            return query.groups(result, explain, finish)
        partials.append(query.groups(result, explain, plan.outputs, "utf8"))
        partials[-1]._copy_texts()
        if not pending:
            break
        nullable = [may or is_null for may, is_null in zip(nullable, query.nulls_of(pending[0][1]))]
    return _merged(Tables([ArrowTable(groups) for groups in partials]), keys, aggregates, settings)


def _merged(source, keys, aggregates, settings):
    wanted = partial_names(aggregates)
    for table in source.tables:
        check_names(table.names, keys + wanted)
    fields = source.fields(wanted)
    for operation, column, _ in aggregates:
        field = fields["sum_%s" % column] if operation in ("sum", "avg") else None
        if field is not None and not field.is_float and not is_decimal(field.format):
            raise ArgumentError("sum_%s is no partial sum; pass the results of groupby(..., partial=True)" % column)
    plan = _Plan(settings)
    plan.merge(aggregates, fields)
    return _Query(source, keys, plan, dict(settings, device="cpu")).all()


# ---- the calls -------------------------------------------------------------------------------------------------

def key_names(keys):
    """Of a name or several."""
    try:
        keys = [keys] if isinstance(keys, str) else list(keys)
    except TypeError:
        keys = [None]
    if not all(isinstance(key, str) for key in keys):
        raise TableTypeError("keys are a column's name or a list of names")
    if not keys:
        raise ArgumentError("there are no keys: name the columns to group by")
    return keys


def _asked(keys, aggs, named):
    keys = key_names(keys)
    return keys, parse_aggregates(aggs, named)


def _settings(given):
    _choice("counts", ["uint64", "int64"], given["counts"])
    _choice("text", ["dictionary", "utf8"], given["text"])
    if given["sort"] not in (True, False):
        raise ArgumentError("sort is %r: True or False, in order of the keys or not" % (given["sort"],))
    for name in ("threads", "groups", "scope_bytes", "memory_bytes"):
        try:
            is_right = operator.index(given[name]) >= 0
        except TypeError:
            is_right = False
        if not is_right:
            raise ArgumentError("%s is %r: a whole number, 0 or more" % (name, given[name]))
    return given


Keys = Union[str, Sequence[str]]
Aggregates = Union[None, str, Tuple[str, str], Sequence[Union[str, Tuple[str, str]]], Dict[str, Union[str, Sequence[str]]]]


def groupby(table: Any, keys: Keys, aggs: Aggregates = None, *, sort: bool = True, partial: bool = False,
            counts: str = "uint64", text: str = "dictionary", device: str = "cpu", strategy: str = "auto",
            placement: str = "auto", scope_bytes: int = 0, memory_bytes: int = 0, threads: int = 0, groups: int = 0,
            profile: Union[None, str, "os.PathLike[str]"] = None, **named: Union[bool, str, Sequence[Any]]) -> Groups:
    """Groups of rows that agree in `keys` (a name or several), with aggregates of each: "count", "count:c", "sum:c",
    "min:c", "max:c", "avg:c", "var:c", "stddev:c" (of a sample: NULL for less than two values), "median:c",
    "quantile:c:0.9", "count_distinct:c"; or pairs, ("c", "sum"); or a dict, {"c": ["sum", "max"], "*": "count"}; or by
    name, sum="c", max=["c", "d"], quantile=("c", 0.9), count=True; or by a name for the result, total=("c", "sum").

    >>> import warpage
    >>> warpage.groupby({"user": [1, 2, 1], "price": [2.5, 4.0, 8.0]}, "user", sum="price", count=True)
    user  sum_price  count
       1       10.5      2
       2        4.0      1
    [2 rows]

    A table is anything that speaks the Arrow C data interface, a LazyFrame of Polars, a dataset of pyarrow, a dict of
    arrays, lists or Series, an array of records of NumPy, a list of dicts or of such tables (batches of Arrow, one after
    the other), or files, which pyarrow reads: the path of a Parquet, Arrow, CSV or TSV file or of a folder of
    them, a pattern ("sales/*.parquet"), or a list of paths. A table that is a stream is read once, batch by batch; memory
    is that of the groups.

    >>> warpage.groupby({"user": [1, 2, 1], "item": ["b", "c", "a"]}, "user", ["count_distinct:item", "min:item"])
    user  count_distinct_item  min_item
       1                    2  a
       2                    1  c
    [2 rows]

    As in SQL, a NULL key is a group of its own, and NULL values are not aggregated; a NaN is a value. Sums of
    integers are exact: one that does not fit 64 bits is an error.

    sort        in order of keys, NULL last, texts by bytes; always where a median, a quantile, distinct values or an
                extreme of texts are asked for, which are exact and take memory for the distinct values of each group (medians, quantiles
                and distinct values of what hardly recurs: for all values)
    partial     return columns that warpage.merge merges with those of other rows: an average as sum and count, sums
                of integers as decimal(38, 0)
    counts      "uint64" or "int64": the type of counts
    text        "dictionary" or "utf8": how keys of text are returned
    device      "cpu", "sim:<gpu>", "cuda:<n>"
    threads     of the processor; 0: all
    groups      about so many are expected
    strategy, placement, scope_bytes, memory_bytes: of a GPU; chosen by the planner
    profile     whose TLBs the GPU has, such as the file that `warpage probe --write-profile` made of it

    Returns Groups; raises WarpageError.
    """
    settings = _settings({name: value for name, value in locals().items() if name != "named"})
    keys, aggregates = _asked(keys, aggs, named)
    wanted = list(dict.fromkeys(column for _, column, _ in aggregates if column is not None))
    source = open_table(table, list(dict.fromkeys(keys + wanted)))
    reason = None
    while True:
        try:
            return _grouped(source, keys, aggregates, wanted, settings)
        except StreamError as error:  # a CSV file that has other values later on
            source, reason = source.reopened(error) if hasattr(source, "reopened") else None, error
            if source is None:
                raise
        except TableTypeError as error:
            if reason is None:
                raise
            raise TableTypeError("%s (%s)" % (error, reason)) from None


def _grouped(source, keys, aggregates, wanted, settings):
    check_names(source.names, keys + wanted, once=True)
    fields = source.fields(wanted)
    _check_types(aggregates, fields)
    if not settings["partial"]:
        return _whole(source, keys, aggregates, fields, settings)
    plan = _Plan(settings)
    plan.partial(_with_default_names(aggregates), fields)
    return _Query(source, keys, plan, settings).all()


def merge(partials: Any, keys: Keys, aggs: Aggregates = None, *, sort: bool = True, counts: str = "uint64",
          text: str = "dictionary", threads: int = 0, **named: Union[bool, str, Sequence[str]]) -> Groups:
    """What warpage.groupby(table, keys, aggs) returns, from the results of groupby(..., partial=True) on any parts of
    the table: equal, but for sums of floats, whose order of additions differs (relative error up to 1e-16 times the
    number of values, of the sum of their absolute values). `partials`: a table or stream of them, or a list.
    Integer sums are int64, unless the partials were of unsigned values and know it.
    """
    settings = _settings(dict(sort=sort, counts=counts, text=text, threads=threads, device="cpu", strategy="auto", placement="auto", scope_bytes=0, memory_bytes=0,
                              groups=0, profile=None))
    keys, aggregates = _asked(keys, aggs, named)
    tables = partials if isinstance(partials, (list, tuple)) else [partials]
    if not tables:
        raise ArgumentError("there is nothing to merge")
    for table in tables:
        if not hasattr(table, "__arrow_c_stream__") and not hasattr(table, "__arrow_c_array__"):
            raise TableTypeError("a %s is not a table of partials" % type(table).__name__)
    return _merged(Tables([ArrowTable(table) for table in tables]), keys, aggregates, settings)

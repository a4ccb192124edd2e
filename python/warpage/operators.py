# SPDX-License-Identifier: Apache-2.0
"""warpage.groupby: the call."""
import ctypes
import difflib
from warpage import native
from warpage.groups import Groups
from warpage.native import WarpageError
from warpage.table import open_table


def _parse(aggregate):
    """"sum:price", ("sum", "price"), "count" -> operation, column or None, name."""
    operation, _, column = aggregate.partition(":") if isinstance(aggregate, str) else (aggregate[0], "", aggregate[1])
    column = column or None
    if operation not in native.OPERATIONS:
        raise WarpageError("'%s': the aggregates are %s" % (operation, ", ".join(native.OPERATIONS)))
    if column is None and operation != "count":
        raise WarpageError("%s: of which column? %s:COLUMN" % (operation, operation))
    return operation, column, operation if column is None else "%s_%s" % (operation, column)


def _check(names, wanted):
    for name in wanted:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            raise WarpageError("the table has no column '%s'%s" %
                               (name, "; did you mean '%s'?" % near[0] if near else ""))


def _choice(kind, names, value):
    if value not in names:
        raise WarpageError("%s '%s' is none of %s" % (kind, value, ", ".join(names)))
    return names.index(value)


def _columns(parts, places, fields, are_keys):
    columns = ((field, parts[places[field.name]]) for field in fields)
    return (native.Column * max(1, len(fields)))(
        *(native.Column(field.type, part.values, None if are_keys and field.is_text else part.valid, part.valid_offset)
          for field, part in columns))


def _name_sum(error, aggregates):
    """An overflowing sum is reported with the name of its column."""
    head, _, rest = str(error).partition(": ")
    number = head[len("aggregate "):]
    if head.startswith("aggregate ") and number.isdigit() and int(number) < len(aggregates):
        return WarpageError("%s:%s: %s" % (aggregates[int(number)][0], aggregates[int(number)][1], rest))
    return error


def _check_types(aggregates, fields):
    for operation, column, _ in aggregates:
        if operation == "count" or fields[column].is_number:
            continue
        if fields[column].is_text or operation in ("sum", "avg"):
            raise WarpageError("%s:%s: the column has no numbers" % (operation, column))


def _spec(keys, values, aggregates, options):
    """`keys`: fields, and whether each may be NULL."""
    places = {field.name: i for i, field in enumerate(values)}
    places[None] = native.ALL_ROWS
    return native.Spec(
        len(keys), len(values), len(aggregates),
        (native.Key * len(keys))(*(native.Key(field.type, nullable) for field, nullable in keys)),
        (ctypes.c_int * max(1, len(values)))(*(field.type for field in values)),
        (native.Aggregate * max(1, len(aggregates)))(
            *(native.Aggregate(native.OPERATIONS.index(operation), places[column])
              for operation, column, _ in aggregates)), options,
        (ctypes.c_void_p * len(keys))(*(field.texts.handle if field.is_text else None for field, _ in keys)))


def _run(device, spec, chunks, places, key_fields, value_fields):
    """The library's result and its explanation."""
    with native.Device(device) as handle:
        groupby_handle = native.groupby_open(handle, spec)
        try:
            for row_count, parts in chunks:
                if row_count == 0:
                    continue
                native.groupby_add(groupby_handle, _columns(parts, places, key_fields, True),
                                   _columns(parts, places, value_fields, False), row_count)
            result = native.groupby_finish(groupby_handle)
            return result, (native.groupby_explain(groupby_handle) or b"").decode(errors="replace")
        finally:
            native.groupby_close(groupby_handle)


def groupby(table, keys, aggs=("count",), *, sort=True, device="cpu", strategy="auto", placement="auto",
            scope_bytes=0, memory_bytes=0, threads=0, groups=0, profile=None):
    """Groups of rows that agree in `keys` (a name or several), with aggregates of each: "count", "count:c", "sum:c",
    "min:c", "max:c", "avg:c", or pairs such as ("sum", "c").

    As in SQL, a NULL key is a group of its own, and NULL values are not aggregated; a NaN is a value. Sums of
    integers are exact: one that does not fit 64 bits is an error. `sort`: in order of keys, NULL last. `device`:
    "cpu", "sim:<gpu>", "cuda:<n>". `groups`: about so many are expected. `profile`: whose TLBs the GPU has, such as
    the file that `warpage probe --write-profile` made of it. Returns Groups; raises WarpageError.
    """
    keys = [keys] if isinstance(keys, str) else list(keys)
    aggregates = [_parse(a) for a in ([aggs] if isinstance(aggs, str) else aggs)]
    if not keys:
        raise WarpageError("by which columns?")
    source = open_table(table)
    values = list(dict.fromkeys(column for _, column, _ in aggregates if column is not None))
    _check(source.names, keys + values)
    fields, chunks = source.select(list(dict.fromkeys(keys + values)), keys, threads)
    by_name = {field.name: field for field in fields}
    places = {field.name: i for i, field in enumerate(fields)}
    _check_types(aggregates, by_name)
    key_fields, value_fields = [by_name[k] for k in keys], [by_name[v] for v in values]
    nullable = [not key_fields[0].is_text]
    if len(keys) > 1:  # several that are never NULL are grouped faster
        chunks = list(chunks)
        nullable = [not by_name[k].is_text and any(parts[places[k]].valid for _, parts in chunks) for k in keys]
    options = native.Options(strategy=_choice("strategy", native.STRATEGIES, strategy),
                             placement=_choice("placement", native.PLACEMENTS, placement), scope_bytes=scope_bytes,
                             memory_bytes=memory_bytes, thread_count=threads, group_count=groups,
                             is_sorted=sort,
                             profile=None if profile is None else str(profile).encode())
    spec = _spec(list(zip(key_fields, nullable)), value_fields, aggregates, options)
    try:
        result, explain = _run(device, spec, chunks, places, key_fields, value_fields)
    except WarpageError as error:
        raise _name_sum(error, aggregates) from None
    columns = [(field.name, "dictionary" if field.is_text else field.format, field.texts, field.is_binary)
               for field in key_fields]
    for operation, column, name in aggregates:
        columns.append((name, by_name[column].format if operation in ("min", "max") else None, None, False))
    return Groups(result, columns, len(keys), explain)

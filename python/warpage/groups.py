# SPDX-License-Identifier: Apache-2.0
"""The result of a group-by: columns in the library's memory, which live as long as they are referenced."""
import ctypes
from warpage import arrow, native

try:
    import numpy
except ImportError:
    numpy = None

_FORMATS = ["c", "s", "i", "l", "C", "S", "I", "L", "f", "g"]
_CTYPES = [ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8, ctypes.c_uint16,
           ctypes.c_uint32, ctypes.c_uint64, ctypes.c_float, ctypes.c_double]


class _Owner:
    """The library's result."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        native.groups_close(self.handle)


class _Column:
    def __init__(self, name, format_, texts, column, owner):
        self.name, self.type, self.texts = name, column.type, texts
        self.format = format_ if format_ not in (None, "b") else _FORMATS[self.type]
        self.values, self.valid, self.owner = column.values, column.valid, owner

    def array(self, length):
        return (_CTYPES[self.type] * length).from_address(self.values) if length else ()

    def is_null(self, row):
        return bool(self.valid) and not ctypes.c_uint8.from_address(self.valid + row // 8).value >> row % 8 & 1

    def mask(self, length):
        """NumPy: True where it is NULL; None: nowhere."""
        if not self.valid or not length:
            return None
        bits = numpy.frombuffer((ctypes.c_uint8 * ((length + 7) // 8)).from_address(self.valid), dtype=numpy.uint8)
        return numpy.unpackbits(bits, count=length, bitorder="little") == 0

    def take(self, rows):
        """Rows in another order, in memory of our own."""
        length = len(rows)
        values = (_CTYPES[self.type] * max(1, length))()
        if numpy is not None and length:
            numpy.frombuffer(values, dtype=native.TYPES[self.type])[:] = numpy.frombuffer(
                self.array(length), dtype=native.TYPES[self.type])[rows]
        else:
            source = self.array(length)
            for to, row in enumerate(rows):
                values[to] = source[row]
        valid = None
        if self.valid and length:
            valid = (ctypes.c_uint8 * ((length + 7) // 8))()
            if numpy is not None:
                bits = numpy.packbits(~self.mask(length)[rows], bitorder="little")
                numpy.frombuffer(valid, dtype=numpy.uint8)[:] = bits
            else:
                for to, row in enumerate(rows):
                    valid[to // 8] |= (not self.is_null(row)) << to % 8
        self.values, self.valid = ctypes.addressof(values), ctypes.addressof(valid) if valid is not None else None
        self.owner = (values, valid)


def _ranks(texts):
    """For each code, the rank of its text."""
    ranks = [0] * len(texts)
    for rank, code in enumerate(sorted(range(len(texts)), key=lambda code: texts[code].encode())):
        ranks[code] = rank
    return ranks


def _order_by_numpy(keys, ranks, length):
    parts = []  # the last one is the first that counts
    for column, rank in reversed(list(zip(keys, ranks))):
        values = numpy.frombuffer(column.array(length), dtype=native.TYPES[column.type]) if length else numpy.empty(0)
        mask = column.mask(length)
        if rank is not None and length:
            values = numpy.array(rank or [0], dtype=numpy.int64).take(values, mode="clip")
        parts += [values] if mask is None else [numpy.where(mask, 0, values), mask]
    return numpy.lexsort(parts)


def _order(keys, ranks, length):
    def place(row):
        parts = []
        for array, column, rank in zip(arrays, keys, ranks):
            value = array[row]
            is_null, is_nan = column.is_null(row), value != value
            parts.append((is_null, is_nan, 0 if is_null or is_nan else value if rank is None else rank[value]))
        return parts

    arrays = [column.array(length) for column in keys]
    return sorted(range(length), key=place)


class Groups:
    """A row for each group: its keys, then its aggregates ("sum_price"). It is a table for consumers of the Arrow C
    data interface; texts are dictionaries there."""

    def __init__(self, handle, columns, key_count, is_to_be_sorted, explain):
        owner = _Owner(handle)
        self._length = native.groups_count(handle)
        self.explain = explain
        self._columns = []
        for i, (name, format_, texts) in enumerate(columns):
            get, number = (native.groups_key, i) if i < key_count else (native.groups_aggregate, i - key_count)
            column = get(handle, number).contents
            self._columns.append(_Column(name, format_, texts.values if texts is not None else None, column, owner))
        if is_to_be_sorted:
            self._sort(key_count)

    def _sort(self, key_count):
        """Codes of texts are not in the order of texts: by bytes, as all of Warpage has it. NULL is last."""
        keys = self._columns[:key_count]
        ranks = [_ranks(column.texts) if column.texts is not None else None for column in keys]
        rows = (_order_by_numpy if numpy is not None else _order)(keys, ranks, self._length)
        for column in self._columns:
            column.take(rows)

    @property
    def names(self):
        return [column.name for column in self._columns]

    def __len__(self):
        return self._length

    def __repr__(self):
        return "<warpage.Groups: %d rows of %s>" % (self._length, ", ".join(self.names))

    def to_dict(self):
        """Lists of Python's values; NULL is None."""
        result = {}
        for column in self._columns:
            values = list(column.array(self._length))
            if column.texts is not None:
                values = [None if column.is_null(row) else column.texts[code] for row, code in enumerate(values)]
            elif column.valid:
                values = [None if column.is_null(row) else value for row, value in enumerate(values)]
            result[column.name] = values
        return result

    def to_numpy(self):
        """A dict of arrays: views of the result's memory. Where there are NULLs, masked arrays; texts are objects."""
        if numpy is None:
            raise ImportError("to_numpy takes the package numpy")
        result = {}
        for column in self._columns:
            buffer = column.array(self._length)
            if not self._length:
                values = numpy.empty(0, dtype=native.TYPES[column.type])
            else:
                buffer._owner = column.owner
                values = numpy.frombuffer(buffer, dtype=native.TYPES[column.type])
            mask = column.mask(self._length)
            if column.texts is not None:
                texts = numpy.array(column.texts + [None], dtype=object)
                values = texts[numpy.where(mask, len(column.texts), values) if mask is not None else values]
            elif mask is not None:
                values = numpy.ma.masked_array(values, mask)
            result[column.name] = values
        return result

    def to_arrow(self):
        import pyarrow
        return pyarrow.table(self)

    def to_pandas(self):
        return self.to_arrow().to_pandas()

    # ---- Arrow's C data interface ------------------------------------------------------------------------------

    def _fill_schema(self, out):
        children = []
        for column in self._columns:
            dictionary = arrow.fill_schema(arrow.Schema(), "U") if column.texts is not None else None
            format_ = "i" if column.texts is not None else column.format
            children.append(arrow.fill_schema(arrow.Schema(), format_, column.name, dictionary=dictionary))
        arrow.fill_schema(out, "+s", children=children)

    def _fill_array(self, out):
        children = []
        for column in self._columns:
            dictionary = _text_array(column.texts) if column.texts is not None else None
            children.append(arrow.fill_array(arrow.Array(), self._length, [column.valid, column.values], column.owner,
                                             dictionary=dictionary))
        arrow.fill_array(out, self._length, [None], None, children)

    def __arrow_c_stream__(self, requested_schema=None):
        return arrow.stream_capsule(self._fill_schema, self._fill_array)


def _text_array(texts):
    data = b"".join(text.encode() for text in texts)
    offsets, at = (ctypes.c_int64 * (len(texts) + 1))(), 0
    for i, text in enumerate(texts):
        at += len(text.encode())
        offsets[i + 1] = at
    buffer = ctypes.create_string_buffer(data, len(data) + 1)
    return arrow.fill_array(arrow.Array(), len(texts), [None, ctypes.addressof(offsets), ctypes.addressof(buffer)],
                            (offsets, buffer))

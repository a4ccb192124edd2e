# SPDX-License-Identifier: Apache-2.0
"""Tables as chunks of columns: addresses of values in memory, and their owners."""
import array
import ctypes
import sys
from warpage import arrow
from warpage.native import TYPES, TYPE_BYTES, WarpageError

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

INT32, UINT8 = TYPES.index("int32"), TYPES.index("uint8")


class Field:
    """A column: its type, as what Arrow knows it (dates are integers to us), its texts where it has codes."""

    def __init__(self, name, type_, format_=None, texts=None):
        self.name, self.type, self.format, self.texts = name, type_, format_, texts
        self.is_number = texts is None and (format_ is None or ":" not in format_ and not format_.startswith("td"))


class Part:
    """A column's values in one chunk."""

    def __init__(self, values, valid=None, valid_offset=0, owner=None):
        self.values, self.valid, self.valid_offset, self.owner = values, valid, valid_offset, owner


class Texts:
    """Texts and their codes, in order of occurrence."""

    def __init__(self):
        self.values, self._codes = [], {}

    def code(self, text):
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self.values)
            self.values.append(text)
        return code


def address_of(buffer):
    return buffer.buffer_info()[0] if isinstance(buffer, array.array) else ctypes.addressof(buffer)


def _codes_part(codes, nulls):
    """int32 codes and, where there are NULLs, their bits."""
    valid = None
    if nulls:
        bits = bytearray(b"\xff" * ((len(codes) + 7) // 8))
        for row in nulls:
            bits[row // 8] &= ~(1 << row % 8) & 0xFF
        valid = (ctypes.c_uint8 * len(bits)).from_buffer(bits)
    return Part(address_of(codes) if len(codes) else None, ctypes.addressof(valid) if valid else None, 0,
                (codes, valid))


def _encode(texts, values):
    codes, nulls = array.array("i"), []
    for row, value in enumerate(values):
        if value is None:
            nulls.append(row)
        elif not isinstance(value, str):
            raise WarpageError("row %d is %r, which is not text" % (row, value))
        codes.append(0 if value is None else texts.code(value))
    return _codes_part(codes, nulls)


# ---- dicts of arrays -------------------------------------------------------------------------------------------

_KINDS = {"i": "int", "u": "uint", "f": "float", "b": "uint", "M": "int", "m": "int"}
_FORMATS = {"b": "int8", "B": "uint8", "?": "uint8", "f": "float32", "d": "float64"}


def _type_of(kind, size, name):
    type_ = "%s%d" % (_KINDS.get(kind, "?"), 8 * size)
    if type_ not in TYPES:
        raise WarpageError("column '%s': values of type %s%d are not grouped" % (name, kind, size))
    return TYPES.index(type_)


def _from_numpy(name, values):
    interface = values.__array_interface__
    order, kind, size = interface["typestr"][0], interface["typestr"][1], int(interface["typestr"][2:].split("[")[0])
    if len(interface["shape"]) != 1:
        raise WarpageError("column '%s' has %d dimensions" % (name, len(interface["shape"])))
    if kind in "OU":
        texts = Texts()
        return Field(name, INT32, texts=texts), _encode(texts, values.tolist()), interface["shape"][0]
    if order == (">" if sys.byteorder == "little" else "<"):
        raise WarpageError("column '%s' has the other byte order" % name)
    type_ = _type_of(kind, size, name)
    if interface.get("strides") not in (None, (size,)):
        values = numpy.ascontiguousarray(values)
        interface = values.__array_interface__
    format_ = None if kind not in "Mm" else _TIMES.get(interface["typestr"][1:])
    return Field(name, type_, format_), Part(interface["data"][0], owner=values), interface["shape"][0]


_TIMES = {"M8[s]": "tss:", "M8[ms]": "tsm:", "M8[us]": "tsu:", "M8[ns]": "tsn:", "m8[s]": "tDs", "m8[ms]": "tDm",
          "m8[us]": "tDu", "m8[ns]": "tDn"}


def _from_buffer(name, values):
    view = memoryview(values)
    if view.ndim != 1 or not view.contiguous:
        raise WarpageError("column '%s' is not a contiguous one-dimensional array" % name)
    code = view.format.lstrip("@=<")
    kind = "f" if code in "fd" else "u" if code.isupper() or code == "?" else "i"
    type_ = TYPES.index(_FORMATS[code]) if code in _FORMATS else _type_of(kind, view.itemsize, name)
    size = (ctypes.c_char * max(1, view.nbytes))
    owner = size.from_buffer(view) if not view.readonly and view.nbytes else size(*view.tobytes())
    return Field(name, type_), Part(ctypes.addressof(owner), owner=(owner, values)), len(view)


class Arrays:
    def __init__(self, columns):
        self._columns = columns
        self.names = list(columns)

    def select(self, names):
        fields, parts, lengths = [], [], []
        for name in names:
            values = self._columns[name]
            if numpy is not None and not hasattr(values, "__array_interface__") and hasattr(values, "__array__"):
                values = numpy.asarray(values)
            if hasattr(values, "__array_interface__"):
                field, part, length = _from_numpy(name, values)
            elif isinstance(values, (list, tuple)):
                texts = Texts()
                field, part, length = Field(name, INT32, texts=texts), _encode(texts, values), len(values)
            else:
                try:
                    field, part, length = _from_buffer(name, values)
                except TypeError:
                    raise WarpageError("column '%s' is a %s, not an array" % (name, type(values).__name__)) from None
            if lengths and length != lengths[0]:
                raise WarpageError("column '%s' has %d rows, '%s' has %d" % (name, length, names[0], lengths[0]))
            fields.append(field)
            parts.append(part)
            lengths.append(length)
        return fields, iter([(lengths[0], parts)])


# ---- Arrow -----------------------------------------------------------------------------------------------------

_ARROW = {"c": "int8", "s": "int16", "i": "int32", "l": "int64", "C": "uint8", "S": "uint16", "I": "uint32",
          "L": "uint64", "f": "float32", "g": "float64", "b": "uint8", "tdD": "int32", "tdm": "int64",
          "tts": "int32", "ttm": "int32", "ttu": "int64", "ttn": "int64"}
_TEXTS = ("u", "U", "vu")


def _arrow_type(format_):
    if format_.startswith(("ts", "tD")):
        return TYPES.index("int64")
    return TYPES.index(_ARROW[format_]) if format_ in _ARROW else None


def _bit(address, bit):
    return ctypes.c_uint8.from_address(address + bit // 8).value >> bit % 8 & 1


def _strings(format_, structure):
    """Texts of an Arrow array, as Python has them; None is NULL."""
    buffers, offset = structure.buffers, structure.offset
    result = []
    for row in range(offset, offset + structure.length):
        if buffers[0] and not _bit(buffers[0], row):
            result.append(None)
            continue
        if format_ == "vu":
            view = buffers[1] + 16 * row
            length = ctypes.c_int32.from_address(view).value
            at = view + 4
            if length > 12:
                number, first = (ctypes.c_int32 * 2).from_address(view + 8)
                at = buffers[2 + number] + first
        else:
            offset_type = ctypes.c_int32 if format_ == "u" else ctypes.c_int64
            first, outer = (offset_type * 2).from_address(buffers[1] + row * ctypes.sizeof(offset_type))
            at, length = (buffers[2] or 0) + first, outer - first
        result.append(ctypes.string_at(at, length).decode() if length else "")
    return result


class _ArrowColumn:
    """One column of all chunks."""

    def __init__(self, schema, number):
        child = schema.children[number].contents
        self.number, self.format = number, child.format.decode()
        self.dictionary_format = child.dictionary.contents.format.decode() if child.dictionary else None
        name = (child.name or b"").decode()
        self._mapping, self._mapping_of = None, None
        text_format = self.dictionary_format or self.format
        if text_format in _TEXTS:
            self.field = Field(name, INT32, texts=Texts())
        elif self.dictionary_format is None and _arrow_type(self.format) is not None:
            self.field = Field(name, _arrow_type(self.format), self.format)
        else:
            raise WarpageError("column '%s' has Arrow's type '%s', which is not grouped" % (name, text_format))

    def part(self, chunk):
        parent = chunk.structure
        structure = parent.children[self.number].contents
        offset = structure.offset + parent.offset
        valid = structure.buffers[0] if structure.null_count != 0 else None
        if self.dictionary_format is not None:
            return self._dictionary_part(structure, parent.length, offset, valid, chunk)
        if self.field.texts is not None:
            copy = arrow.Array.from_buffer_copy(structure)
            copy.offset, copy.length = offset, parent.length
            return _encode(self.field.texts, _strings(self.format, copy))
        if self.format == "b":
            bits = (ctypes.c_uint8 * max(1, parent.length))(*(_bit(structure.buffers[1], offset + row)
                                                               for row in range(parent.length)))
            return Part(ctypes.addressof(bits), valid, offset, (bits, chunk))
        first = (structure.buffers[1] or 0) + offset * TYPE_BYTES[self.field.type]
        return Part(first, valid, offset, chunk)

    def _dictionary_part(self, structure, length, offset, valid, chunk):
        dictionary = structure.dictionary.contents
        where = (dictionary.length, dictionary.offset, [dictionary.buffers[i] for i in range(dictionary.n_buffers)])
        if where != self._mapping_of:
            texts = self.field.texts
            self._mapping = [texts.code(text) for text in _strings(self.dictionary_format, dictionary)]
            self._mapping_of, self._dictionary_owner = where, chunk
        size = TYPE_BYTES[_arrow_type(self.format)]
        first = (structure.buffers[1] or 0) + offset * size
        if size == 4 and self._mapping == list(range(len(self._mapping))):
            return Part(first, valid, offset, chunk)
        kind = getattr(ctypes, "c_" + TYPES[_arrow_type(self.format)])
        indices = (kind * length).from_address(first) if length else ()
        if numpy is not None and length:
            mapping = numpy.array(self._mapping or [0], dtype=numpy.int32)
            codes = mapping.take(numpy.frombuffer(indices, dtype=TYPES[_arrow_type(self.format)]), mode="clip")
            return Part(codes.ctypes.data, valid, offset, (codes, chunk))
        last = len(self._mapping) - 1 # what is NULL may have any index
        codes = array.array("i", (self._mapping[max(0, min(i, last))] if last >= 0 else 0 for i in indices))
        return Part(address_of(codes) if length else None, valid, offset, (codes, chunk))


def _encode_by_pyarrow(table, names):
    """Columns of text become dictionaries, which pyarrow does fast."""
    table = pyarrow.table(table).select(names)
    for number, name in enumerate(names):
        column = table.column(number)
        kinds = pyarrow.types
        is_view = hasattr(kinds, "is_string_view") and kinds.is_string_view(column.type)
        if is_view:
            column = column.cast(pyarrow.large_string())
        if is_view or kinds.is_string(column.type) or kinds.is_large_string(column.type):
            table = table.set_column(number, name, column.dictionary_encode())
    return table


class ArrowTable:
    def __init__(self, table):
        self._table = table
        self._schema, self._chunks = arrow.read(table)
        schema = self._schema.structure
        if schema.format != b"+s":
            raise WarpageError("a table is expected, this is one column")
        self._numbers = {}
        self.names = []
        for number in range(schema.n_children):
            name = (schema.children[number].contents.name or b"").decode()
            self.names.append(name)
            self._numbers[name] = number

    def _has_texts(self, names):
        formats = [self._schema.structure.children[self._numbers[name]].contents for name in names]
        return any(not f.dictionary and f.format.decode() in _TEXTS for f in formats)

    def select(self, names):
        if pyarrow is not None and self._has_texts(names):
            # What was read is read again; a stream that can be read only once is taken as it is.
            if not hasattr(self._table, "read_next_batch"):
                self._chunks = None
                other = ArrowTable(_encode_by_pyarrow(self._table, names))
                self._schema, self._chunks, self._numbers = other._schema, other._chunks, other._numbers
        columns = [_ArrowColumn(self._schema.structure, self._numbers[name]) for name in names]
        chunks = ((chunk.structure.length, [column.part(chunk) for column in columns]) for chunk in self._chunks)
        return [column.field for column in columns], chunks


def open_table(table):
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return ArrowTable(table)
    if hasattr(table, "keys") and hasattr(table, "__getitem__"):
        return Arrays({name: table[name] for name in table.keys()})
    raise WarpageError("a %s is not a table; pass an object with Arrow's C data interface or a dict of arrays" % type(table).__name__)

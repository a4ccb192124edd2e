# SPDX-License-Identifier: Apache-2.0
"""The Arrow C data interface and its PyCapsule protocol: structures, reading streams, giving one.

https://arrow.apache.org/docs/format/CDataInterface.html
"""
import atexit
import ctypes
import errno
import itertools
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, py_object
from typing import TYPE_CHECKING
from warpage import native
from warpage.native import StreamError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Schema(Structure):
    pass


class Array(Structure):
    pass


class Stream(Structure):
    pass


_ReleaseSchema = CFUNCTYPE(None, POINTER(Schema))
_ReleaseArray = CFUNCTYPE(None, POINTER(Array))
_ReleaseStream = CFUNCTYPE(None, POINTER(Stream))
_GetSchema = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
_GetNext = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
_GetError = CFUNCTYPE(c_void_p, POINTER(Stream))

Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
                   ("n_children", c_int64), ("children", POINTER(POINTER(Schema))),
                   ("dictionary", POINTER(Schema)), ("release", c_void_p), ("private_data", c_void_p)]
Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                  ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(Array))),
                  ("dictionary", POINTER(Array)), ("release", c_void_p), ("private_data", c_void_p)]
Stream._fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p),
                   ("release", c_void_p), ("private_data", c_void_p)]

NULLABLE = 2

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [py_object, c_char_p]
_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype = py_object
_capsule_new.argtypes = [c_void_p, c_char_p, c_void_p]


# ---- reading ---------------------------------------------------------------------------------------------------

class Taken:
    """A Schema or Array from a producer; released when it is no longer referenced."""

    def __init__(self, structure, release_type):
        self.structure = structure
        self._release_type = release_type

    def __del__(self):
        if self.structure.release:
            self._release_type(self.structure.release)(ctypes.byref(self.structure))


def _take(kind, pointer, release_type):
    """Moves the structure out of a capsule."""
    taken = kind()
    ctypes.memmove(ctypes.byref(taken), pointer, ctypes.sizeof(kind))
    kind.from_address(pointer).release = None
    return Taken(taken, release_type)


def read(table):
    """The schema of a table, and an iterator over its chunks, as Taken."""
    if hasattr(table, "__arrow_c_stream__"):
        capsule = table.__arrow_c_stream__()
        stream = _take(Stream, _capsule_pointer(capsule, b"arrow_array_stream"), _ReleaseStream)
        schema = Taken(Schema(), _ReleaseSchema)
        _call(stream, _GetSchema(stream.structure.get_schema), schema.structure)
        return schema, _chunks(stream)
    schema_capsule, array_capsule = table.__arrow_c_array__()
    schema = _take(Schema, _capsule_pointer(schema_capsule, b"arrow_schema"), _ReleaseSchema)
    array = _take(Array, _capsule_pointer(array_capsule, b"arrow_array"), _ReleaseArray)
    return schema, iter([array])


def _call(stream, function, out):
    structure = stream.structure
    if function(ctypes.byref(structure), ctypes.byref(out)) != 0:
        text = _GetError(structure.get_last_error)(ctypes.byref(structure))
        message = ctypes.string_at(text).decode(errors="replace") if text else "the table's stream failed"
        raise StreamError(message.partition("\n")[0].partition(" Detail: Python exception")[0])


def _chunks(stream):
    while True:
        array = Taken(Array(), _ReleaseArray)
        _call(stream, _GetNext(stream.structure.get_next), array.structure)
        if not array.structure.release:
            return
        yield array


def metadata_of(schema):
    """A field's metadata."""
    at = schema.metadata

    def number():
        nonlocal at
        at += 4
        return ctypes.c_int32.from_address(at - 4).value

    def text():
        nonlocal at
        length = number()
        at += length
        return ctypes.string_at(at - length, length)

    return {text(): text() for _ in range(number())} if at else {}


def _metadata(pairs):
    """As the interface has it."""
    data = len(pairs).to_bytes(4, sys.byteorder)
    for text in itertools.chain.from_iterable(pairs.items()):
        data += len(text).to_bytes(4, sys.byteorder) + text
    return ctypes.create_string_buffer(data, len(data))


# ---- giving ----------------------------------------------------------------------------------------------------
# What an exported structure points to stays in _kept until its consumer releases it; private_data is the number.

_kept = {}
_numbers = itertools.count(1)


def _keep(structure, release, *things):
    number = next(_numbers)
    structure.private_data = number
    structure.release = release
    _kept[number] = things


def _release_parts(structure, release_type):
    parts = [structure.children[i] for i in range(structure.n_children)]
    if structure.dictionary:
        parts.append(structure.dictionary)
    for part in parts:
        if part.contents.release:
            release_type(part.contents.release)(part)
    _kept.pop(structure.private_data, None)
    structure.release = None


@_ReleaseSchema
def _release_schema(pointer):
    _release_parts(pointer.contents, _ReleaseSchema)


@_ReleaseArray
def _release_array(pointer):
    _release_parts(pointer.contents, _ReleaseArray)


@_ReleaseStream
def _release_stream(pointer):
    _kept.pop(pointer.contents.private_data, None)
    pointer.contents.release = None


def _release_by(*functions):
    native.release_by(*(ctypes.cast(function, c_void_p) for function in functions))


# A consumer may release after Python has ended, and then must not call it.
_release_by(_release_schema, _release_array, _release_stream)
atexit.register(_release_by, None, None, None)


def _pointers(kind, structures):
    return (POINTER(kind) * max(1, len(structures)))(*map(ctypes.pointer, structures))


def fill_schema(out, format_, name="", children=(), dictionary=None, metadata=None):
    ctypes.memset(ctypes.byref(out), 0, ctypes.sizeof(out))  # a consumer's is not initialised
    pointers = _pointers(Schema, children)
    out.format, out.name, out.flags = format_.encode(), name.encode(), NULLABLE
    out.n_children, out.children = len(children), pointers
    if dictionary is not None:
        out.dictionary = ctypes.pointer(dictionary)
    data = _metadata(metadata) if metadata else None
    out.metadata = ctypes.addressof(data) if data is not None else None
    _keep(out, native.RELEASE_SCHEMA, children, pointers, dictionary, out.format, out.name, data)
    return out


def fill_array(out, length, buffers, owner, children=(), dictionary=None):
    """`buffers`: addresses, None for an absent one; `owner` keeps them alive."""
    ctypes.memset(ctypes.byref(out), 0, ctypes.sizeof(out))
    pointers, addresses = _pointers(Array, children), (c_void_p * len(buffers))(*buffers)
    out.length, out.null_count, out.offset = length, -1 if buffers and buffers[0] else 0, 0
    out.n_buffers, out.buffers = len(buffers), addresses
    out.n_children, out.children = len(children), pointers
    if dictionary is not None:
        out.dictionary = ctypes.pointer(dictionary)
    _keep(out, native.RELEASE_ARRAY, children, pointers, addresses, dictionary, owner)
    return out


_streams = []  # 40 bytes each: a capsule may be asked after its stream was taken out


def array_capsules(make_schema, make_array):
    """One array: its schema and itself, which the consumer releases."""
    schema, array = Schema(), Array()
    make_schema(schema)
    make_array(array)
    _streams.extend((schema, array))
    return _capsule_new(ctypes.addressof(schema), b"arrow_schema", None), _capsule_new(ctypes.addressof(array), b"arrow_array", None)


def stream_capsule(make_schema, make_array):
    """A stream of one chunk: make_schema(out) and make_array(out) fill structures."""
    return chunks_capsule(make_schema, [make_array])


def chunks_capsule(make_schema, chunks):
    """A stream: make_schema(out) and each function of `chunks` fill structures. Its consumer releases it. The capsule
    has no destructor: one in Python could run while an exception of the consumer is propagating."""
    stream, chunks, message = Stream(), iter(chunks), []

    @_GetSchema
    def get_schema(_, out):
        make_schema(out.contents)
        return 0

    @_GetNext
    def get_next(_, out):
        try:
            fill = next(chunks, None)
        except Exception as error:  # cannot pass through the consumer
            message[:] = [ctypes.create_string_buffer(str(error).encode())]
            return errno.EIO
        if fill is not None:
            fill(out.contents)
        else:
            out.contents.release = None
        return 0

    @_GetError
    def get_last_error(_):
        return ctypes.addressof(message[0]) if message else None

    stream.get_schema = native.address_of(get_schema)
    stream.get_next = native.address_of(get_next)
    stream.get_last_error = native.address_of(get_last_error)
    _keep(stream, native.RELEASE_STREAM, get_schema, get_next, get_last_error)
    _streams.append(stream)
    return _capsule_new(ctypes.addressof(stream), b"arrow_array_stream", None)


class Tabular:
    """What gives a stream of rows by Arrow's protocol, as tables of other packages."""

    def to_arrow(self) -> "pyarrow.Table":
        import pyarrow
        if hasattr(pyarrow.RecordBatchReader, "from_stream"):  # pyarrow.table loads pandas, 45 MiB
            return pyarrow.RecordBatchReader.from_stream(self).read_all()
        return pyarrow.table(self)

    def to_polars(self) -> "polars.DataFrame":
        import polars
        return polars.DataFrame(self)

    def to_pandas(self) -> "pandas.DataFrame":
        return self.to_arrow().to_pandas()

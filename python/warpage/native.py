# SPDX-License-Identifier: Apache-2.0
"""The functions of include/warpage/ops.h, by ctypes."""
import ctypes
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_uint32, c_uint64, c_void_p

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
TYPE_BYTES = [1, 2, 4, 8, 1, 2, 4, 8, 4, 8]
OPERATIONS = ["count", "sum", "min", "max", "avg"]
STRATEGIES = ["auto", "direct", "scoped", "copy", "partition", "sepo"]
PLACEMENTS = ["auto", "zero-copy", "copied", "resident"]
ALL_ROWS = 0xFFFFFFFF


class WarpageError(Exception):
    """An error of the library, described in one sentence."""


class Column(Structure):
    _fields_ = [("type", c_int), ("values", c_void_p), ("valid", c_void_p), ("valid_offset", c_uint64)]


class Key(Structure):
    _fields_ = [("type", c_int), ("is_nullable", c_bool)]


class Aggregate(Structure):
    _fields_ = [("op", c_int), ("value", c_uint32)]


class Options(Structure):
    _fields_ = [("strategy", c_int), ("placement", c_int), ("scope_bytes", c_uint64), ("group_count", c_uint64),
                ("row_count", c_uint64), ("chunk_bytes", c_uint64), ("memory_bytes", c_uint64),
                ("thread_count", c_uint64), ("is_sorted", c_bool), ("profile", c_char_p)]


class Spec(Structure):
    _fields_ = [("key_count", c_uint32), ("value_count", c_uint32), ("aggregate_count", c_uint32),
                ("keys", POINTER(Key)), ("values", POINTER(c_int)), ("aggregates", POINTER(Aggregate)),
                ("options", Options)]


class Error(Structure):
    _fields_ = [("status", c_int), ("file", c_char_p), ("line", c_int), ("message", c_char * 512)]


def _load(stem):
    """From the folder that WARPAGE_LIBRARY names, or as Warpage is installed (lib/warpage/python/warpage), or where
    the system looks."""
    name = stem + ".so.0"
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    folder = os.environ.get("WARPAGE_LIBRARY", here if os.path.exists(os.path.join(here, name)) else "")
    try:
        return ctypes.CDLL(os.path.join(folder, name))
    except OSError as error:
        raise ImportError("%s was not found: set WARPAGE_LIBRARY to its folder (%s)" % (name, error)) from None


_library = _load("libwarpage_ops")


def _declare(name, result, *arguments, library=_library):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


_open = _declare("wp_groupby_open", c_int, c_void_p, POINTER(Spec), POINTER(c_void_p), POINTER(Error))
_add = _declare("wp_groupby_add", c_int, c_void_p, POINTER(Column), POINTER(Column), c_uint64, POINTER(Error))
_finish = _declare("wp_groupby_finish", c_int, c_void_p, POINTER(c_void_p), POINTER(Error))
groupby_close = _declare("wp_groupby_close", None, c_void_p)
groupby_explain = _declare("wp_groupby_explain", c_char_p, c_void_p)
groups_count = _declare("wp_groups_count", c_uint64, c_void_p)
groups_key = _declare("wp_groups_key", POINTER(Column), c_void_p, c_uint32)
groups_aggregate = _declare("wp_groups_aggregate", POINTER(Column), c_void_p, c_uint32)
groups_close = _declare("wp_groups_close", None, c_void_p)


def _check(status, error):
    if status != 0:
        raise WarpageError(error.message.decode(errors="replace") or "status %d" % status)


class Device:
    """A device's handle; None for the processor without a device. Closes itself at the end of a `with`."""

    def __init__(self, spec):
        self.handle = None
        if spec is None or spec == "cpu":
            return
        library = _load("libwarpage")
        open_ = _declare("wp_device_open", c_int, c_char_p, POINTER(c_void_p), POINTER(Error), library=library)
        self._close = _declare("wp_device_close", None, c_void_p, library=library)
        device, error = c_void_p(), Error()
        _check(open_(spec.encode(), byref(device), byref(error)), error)
        self.handle = device

    def __enter__(self):
        return self.handle

    def __exit__(self, *_):
        if self.handle is not None:
            self._close(self.handle)


def groupby_open(device, spec):
    groupby, error = c_void_p(), Error()
    _check(_open(device, byref(spec), byref(groupby), byref(error)), error)
    return groupby


def groupby_add(groupby, keys, values, row_count):
    error = Error()
    _check(_add(groupby, keys, values, row_count, byref(error)), error)


def groupby_finish(groupby):
    groups, error = c_void_p(), Error()
    _check(_finish(groupby, byref(groups), byref(error)), error)
    return groups

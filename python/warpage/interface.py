# SPDX-License-Identifier: Apache-2.0
"""What a driver and its workers on Spark must have in common beyond a version."""
import functools
import hashlib
import importlib.util
import pkgutil


@functools.lru_cache(maxsize=None)
def fingerprint():
    """Of the package's sources, which call each other from both sides, and of the library's hashes of keys, by which rows of
    one key meet: 16 hexadecimal digits."""
    import pyarrow
    import warpage
    from warpage.table import row_hashes
    digest = hashlib.sha256()
    for module in sorted(pkgutil.iter_modules(warpage.__path__, "warpage."), key=lambda module: module.name):
        spec = importlib.util.find_spec(module.name)
        if module.name != "warpage.bundled" and hasattr(spec.loader, "get_source"):  # bundled: where libraries lie
            digest.update(("%s\n%s\n" % (module.name, spec.loader.get_source(module.name))).encode())
    keys = pyarrow.RecordBatch.from_arrays(
        [pyarrow.Array.from_buffers(type_, 2, [None, *map(pyarrow.py_buffer, buffers)]) for type_, *buffers in
         ((pyarrow.int64(), bytes(range(16))), (pyarrow.float64(), bytes(range(64, 80))),
          (pyarrow.string(), bytes([0, 0, 0, 0, 3, 0, 0, 0, 23, 0, 0, 0]), b"keys of a short one and"))], ["i", "f", "t"])
    for names in (["i"], ["f"], ["t"], ["i", "t"]):
        for hashes in row_hashes(pyarrow.Table.from_batches([keys]), names):
            digest.update(bytes(hashes))
    return digest.hexdigest()[:16]

# SPDX-License-Identifier: Apache-2.0
"""Run by the command `warpage groupby` to read a Parquet or Arrow file:

    arrow_file.py FILE                its columns, a line each: "int64 user"
    arrow_file.py FILE NUMBER...      these columns as CSV without a header
"""
import os
import sys

sys.path.pop(0)  # this folder's modules are not for others

try:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
except ImportError:
    sys.exit("%s: reading Parquet and Arrow files takes Python's package pyarrow: pip install pyarrow, or set "
             "WARPAGE_PYTHON to a Python that has it" % sys.argv[1])


def open_file(path):
    """The schema, and a function that gives batches of the columns with these names."""
    if path.endswith(".parquet"):
        file = pyarrow.parquet.ParquetFile(path)
        return file.schema_arrow, lambda names: file.iter_batches(columns=names)
    try:
        reader = pyarrow.ipc.open_file(pyarrow.memory_map(path))
        return reader.schema, lambda names: (reader.get_batch(i) for i in range(reader.num_record_batches))
    except pyarrow.ArrowInvalid:
        reader = pyarrow.ipc.open_stream(pyarrow.memory_map(path))
        return reader.schema, lambda names: reader


def type_name(type_):
    kinds = pyarrow.types
    if kinds.is_integer(type_) or type_ in (pyarrow.float32(), pyarrow.float64()):
        return {"float": "float32", "double": "float64"}.get(str(type_), str(type_))
    if kinds.is_decimal(type_) or kinds.is_floating(type_):
        return "float64"
    return "text"


def as_csv(column):
    """What the CSV writer takes, and its reader understands."""
    kind = type_name(column.type)
    if kind == "text":
        return column.cast(pyarrow.large_string())
    is_other_float = kind == "float64" and str(column.type) not in ("float", "double")
    return column.cast(pyarrow.float64()) if is_other_float else column


def main():
    path, numbers = sys.argv[1], [int(number) for number in sys.argv[2:]]
    schema, batches = open_file(path)
    if not numbers:
        for field in schema:
            print(type_name(field.type), field.name.replace("\n", " "))
        return
    fields = [schema.field(number) for number in numbers]
    names = list(dict.fromkeys(field.name for field in fields))
    options = pyarrow.csv.WriteOptions(include_header=False)
    writer = None
    for batch in batches(names):
        columns = [as_csv(batch.column(batch.schema.get_field_index(field.name))) for field in fields]
        table = pyarrow.table(columns, names=["c%d" % i for i in range(len(columns))])
        if writer is None:
            writer = pyarrow.csv.CSVWriter(sys.stdout.buffer, table.schema, write_options=options)
        writer.write_table(table)
    if writer is not None:
        writer.close()


try:
    main()
except (pyarrow.ArrowException, OSError) as error:
    sys.exit("%s: %s" % (sys.argv[1], str(error).split("\n")[0]))
except BrokenPipeError:
    os._exit(1)

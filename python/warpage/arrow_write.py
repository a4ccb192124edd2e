# SPDX-License-Identifier: Apache-2.0
"""What the command `warpage groupby` runs to write a Parquet file:

    arrow_write.py NAME                           exit with one sentence if pyarrow is missing
    arrow_write.py NAME FILE TYPE COLUMN...       write stdin, CSV without a header, to FILE

NAME is what messages call the file. A field that is empty is NULL, unless it is quoted.
"""
import sys

sys.path.pop(0)  # this folder's modules are not for others

try:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
except ImportError:
    sys.exit("%s: writing Parquet files requires the Python package pyarrow: pip install pyarrow, or set "
             "WARPAGE_PYTHON to a Python that has it" % sys.argv[1])


def read(types):
    numbers = ["c%d" % number for number in range(len(types))]
    data = sys.stdin.buffer.read()
    if not data:
        return [pyarrow.array([], type_) for type_ in types]
    table = pyarrow.csv.read_csv(
        pyarrow.py_buffer(data),
        read_options=pyarrow.csv.ReadOptions(column_names=numbers, block_size=max(len(data) + 1, 1 << 20)),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(column_types=dict(zip(numbers, types)), null_values=[""],
                                                   strings_can_be_null=True, quoted_strings_can_be_null=False))
    return table.columns


def main():
    path, words = sys.argv[2], sys.argv[3:]
    names = {"text": pyarrow.string(), "float32": pyarrow.float32(), "float64": pyarrow.float64()}
    types = [names.get(word) or getattr(pyarrow, word)() for word in words[0::2]]
    fields = [pyarrow.field(name, type_) for name, type_ in zip(words[1::2], types)]
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(read(types), schema=pyarrow.schema(fields)), path)


if len(sys.argv) > 2:
    try:
        main()
    except (pyarrow.ArrowException, OSError) as error:
        sys.exit("%s: %s" % (sys.argv[1], str(error).split("\n")[0]))

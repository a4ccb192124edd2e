# SPDX-License-Identifier: Apache-2.0
"""warpage.sample: a column's statistics, estimated from values at random positions.

Each chunk of a table is a stratum: its share of the positions is drawn by the library, estimates of sums add, and so do
the squares of their errors.
"""
import dataclasses
import math
from typing import Any
from warpage import native
from warpage.native import ArgumentError, TableTypeError
from warpage.operators import check_names
from warpage.table import is_decimal, open_table

READS_PER_THREAD = 1024
LEAST_READS = 32  # of a chunk: the spread of fewer values says little


@dataclasses.dataclass(frozen=True)
class Sample:
    """Estimates of a column; `_error` is half the width of the confidence interval.

    rows, reads     of the column; how many positions were read, with replacement
    sum, mean       of its values that are not NULL
    min, max        of the values read; those of the column may lie beyond
    values          the estimated number of values that are not NULL
    """
    rows: int
    reads: int
    values: float
    sum: float
    sum_error: float
    mean: float
    mean_error: float
    min: float
    max: float

    def __str__(self):
        return "mean %g ± %g, sum %g ± %g, of %d values of %d rows" % (
            self.mean, self.mean_error, self.sum, self.sum_error, self.reads, self.rows)


def join(parts):
    """The sample of strata that were sampled separately."""
    parts = [part for part in parts if part.rows]
    if not parts:
        raise ArgumentError("the column has no rows to sample")
    known = [part for part in parts if part.values]
    values, total = math.fsum(part.values for part in known), math.fsum(part.sum for part in parts)
    nan = float("nan")
    return Sample(sum(part.rows for part in parts), sum(part.reads for part in parts), values, total,
                  math.sqrt(math.fsum(part.sum_error ** 2 for part in parts)), total / values if values else nan,
                  math.sqrt(math.fsum((part.values * part.mean_error) ** 2 for part in known)) / values if values else nan,
                  min((part.min for part in known), default=nan), max((part.max for part in known), default=nan))


def _sample_chunk(device, column, count, reads, seed, options):
    given = native.SampleOptions(seed=seed, read_count=reads, reads_per_thread=min(READS_PER_THREAD, reads), **options)
    result = native.sample(device, column, count, given)
    values = count * (result.value_count / result.read_count)
    return Sample(count, result.read_count, values, result.column_sum, result.column_sum_error, result.mean,
                  result.mean_error, result.min, result.max)


def sample(table: Any, column: str, n: int = 1_000_000, *, seed: int = 0, confidence: float = 0.95, device: str = "cpu",
           threads: int = 0) -> Sample:
    """Estimates of a column's mean and sum, with confidence intervals, from n values at random positions, drawn with
    replacement. Returns Sample; raises WarpageError.

    table       as of warpage.groupby; all of the column is in memory while it is sampled
    n           positions to read, at least
    seed        of the generators of positions
    confidence  level of the intervals
    device      "cpu", "sim:<gpu>", "cuda:<n>"
    threads     of the device, at most; 0: as many as fit
    """
    if not isinstance(n, int) or n <= 0:
        raise ArgumentError("n is %r: how many values are to be read, 1 at least" % (n,))
    if not 0 < confidence < 1:
        raise ArgumentError("confidence is %r: a number between 0 and 1" % (confidence,))
    source = open_table(table, [column])
    check_names(source.names, [column], once=True)
    field = source.fields([column])[column]
    if not field.is_number or is_decimal(field.format):
        raise TableTypeError("column '%s' has no numbers to sample" % column)
    (field,), chunks = source.select([column], (), 1)
    chunks = [(count, parts[0]) for count, parts in chunks if count]
    rows = sum(count for count, _ in chunks)
    options = {"confidence": confidence, "thread_count": threads}
    with native.Device(device if device != "cpu" else None) as handle:
        return join([_sample_chunk(handle, native.Column(field.type, part.values, part.valid, part.valid_offset), count,
                                   max(LEAST_READS, -(-n * count // rows)), seed + number, options)
                     for number, (count, part) in enumerate(chunks)])

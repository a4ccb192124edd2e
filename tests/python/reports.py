# SPDX-License-Identifier: Apache-2.0
"""warpage.report: tables of a run; with pyarrow and pandas also theirs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import warpage
import warpage.report

app = pathlib.Path(os.environ["WARPAGE"]).parents[1] / "apps/triad"
if not app.exists():
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, "out")
    subprocess.run([os.environ["WARPAGE"], "run", "--device", "sim:p100", "--output", out, "--", app, "--size", "4K",
                    "--memory", "managed"], check=True, capture_output=True)
    run = warpage.report.open(out)
    assert warpage.report.open(os.path.join(out, "report.json")).report == run.report
    assert {"run", "kernels", "shapes", "lines", "allocations", "utilisation", "numbers"} <= set(run.tables()), run.tables()
    kernel = max(run["kernels"], key=lambda row: row["time_ns"])
    lines = [row for row in run["lines"] if row["kernel"] == kernel["name"]]
    assert sum(row["warp_instructions"] for row in lines) == kernel["kernel_warp_instructions"] > 0, lines
    assert sum(row["far_faults"] for row in run["lines"] if "far_faults" in row) == \
        sum(row["paging_far_faults"] for row in run["allocations"]), run["allocations"]
    assert sum(shape["launches"] for shape in run["shapes"]) == sum(row["launches"] for row in run["kernels"])
    for name in run.tables():
        assert len({tuple(row) for row in run[name]}) == 1, "rows of %s differ in their columns" % name
    for wrong in "not-there", os.path.join(out, "host.json"), os.path.join(out, "index.html"):
        try:
            warpage.report.open(wrong)
        except warpage.WarpageError as error:
            assert wrong in str(error), error
        else:
            raise AssertionError("no error: %s" % wrong)
    try:
        import pandas
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        sys.exit(0)
    assert run.pandas("kernels")["time_ns"].sum() == sum(row["time_ns"] for row in run["kernels"])
    for paths, read in ((run.parquet(os.path.join(folder, "p")), pyarrow.parquet.read_table),
                        (run.feather(os.path.join(folder, "f")), pyarrow.feather.read_table)):
        assert len(paths) == len(run.tables())
        for path in paths:
            assert read(path).to_pylist() == run[pathlib.Path(path).stem], path

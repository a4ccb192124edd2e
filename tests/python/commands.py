# SPDX-License-Identifier: Apache-2.0
"""warpage.run and warpage.compare where the command is, and `python -m warpage`."""
import os
import pathlib
import subprocess
import sys
import warpage

app = pathlib.Path(os.environ["WARPAGE"]).parents[1] / "apps/triad"
if not app.exists():
    sys.exit(77)
report = warpage.run([app, "--size", "4K"], device="sim:k80")
assert report["device"]["spec"] == "sim:k80" and report["simulated_time_ns"] > 0, report
rows = warpage.compare([app, "--size", "4K"], {"device": ["sim:k80", "sim:p100"]}, jobs=1)
assert [row["device"] for row in rows] == ["sim:k80", "sim:p100"], rows
for call in (lambda: warpage.run("./not-there"), lambda: warpage.compare(app, {"migrate": ["nothing"]})):
    try:
        call()
    except warpage.WarpageError as error:
        assert "not-there" in str(error) or "nothing" in str(error), error
    else:
        raise AssertionError("no error")
for values in ("sim:k80,sim:p100", 64):
    try:
        warpage.compare(app, {"device": values})
        raise AssertionError("%r was taken for a list" % values)
    except warpage.ArgumentError as error:
        assert "a list of its values" in str(error), error
out = subprocess.run([sys.executable, "-m", "warpage"], capture_output=True, text=True, check=True).stdout
assert out.startswith("warpage %s\n" % warpage.__version__) and "\nsim:k80 " in out, out
assert len({line.index("a simulated GPU") for line in out.splitlines() if "a simulated GPU" in line}) == 1, out

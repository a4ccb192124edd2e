# SPDX-License-Identifier: Apache-2.0
"""Reports of `warpage run` as tables, for notebooks.

    import warpage.report
    run = warpage.report.open("out")              # of --output out; or a file of --report FILE.json
    run.tables()                                  # ["run", "kernels", "lines", …]
    run["lines"]                                  # a list of dicts, one a row; needs nothing else
    run.pandas("lines").nlargest(5, "fault_ps")   # a pandas DataFrame
    run.arrow("kernels")                          # a pyarrow Table
    run.parquet("tables")                         # writes tables/kernels.parquet, …; arrow files: run.feather(…)

Rows of a table have the same columns; what the report does not have is None, counts that it leaves out are 0. Names end
in their units, as in report.json. pyarrow and pandas are needed only by the methods that are named after them.
"""
import builtins
import json
import os

from warpage.native import WarpageError

_LINE_KEYS = ("kernel", "file", "line", "calls", "names")


def _three(name, values):
    return {"%s_%s" % (name, axis): value for axis, value in zip("xyz", values)}


def _kernels(report):
    for kernel in report["kernels"]:
        row = {name: kernel[name] for name in ("name", "display_name", "launches", "threads", "time_ns", "time_min_ns",
                                               "time_max_ns")}
        row.update(_three("grid", kernel["grid"]), **_three("block", kernel["block"]))
        row["overlapped_launches"] = kernel.get("overlapped_launches", 0)
        row.update(kernel.get("metrics", {}))
        row.update(kernel.get("counters", {}))
        yield row


def _shapes(report):
    for kernel in report["kernels"]:
        for shape in kernel.get("shapes", ()):
            row = {"kernel": kernel["name"], **_three("grid", shape["grid"]), **_three("block", shape["block"])}
            row.update((name, value) for name, value in shape.items() if name not in ("grid", "block"))
            yield row


def _allocations(report):
    for allocation in report.get("simulation", {}).get("allocations", ()):
        row = {name: value for name, value in allocation.items() if name != "paging"}
        row.update(("paging_" + name, value) for name, value in allocation.get("paging", {}).items())
        yield row


def _pages(report):
    simulation = report.get("simulation", {})
    for page in simulation.get("pages", ()):
        yield {**page, "allocation_name": simulation["allocations"][page["allocation"]]["name"]}


def _lines(report):
    lines = report.get("simulation", {}).get("lines", ())
    counts = sorted({name for line in lines for name in line} - set(_LINE_KEYS))
    for line in lines:
        yield {**{name: line.get(name) for name in _LINE_KEYS}, **{name: line.get(name, 0) for name in counts}}


def _utilisation(report):
    for series in report.get("simulation", {}).get("utilisation", ()):
        for slice_, busy_ps in enumerate(series["busy_ps"]):
            in_use = busy_ps / series["slice_ps"]
            yield {"name": series["name"], "start_ns": slice_ * series["slice_ps"] / 1000, "in_use": in_use,
                   "share": in_use / series["units"] if series["units"] else None}


def _numbers(report):
    """The run's own metrics and counters."""
    simulation = report.get("simulation", {})
    units = simulation.get("units", {})
    for kind in "metrics", "counters":
        for name, value in simulation.get(kind, {}).items():
            yield {"name": name, "kind": kind[:-1], "value": float(value), "unit": units.get(name)}


def _run(report):
    yield {"program": " ".join(report["program"]), "device": report["device"]["spec"], "version": report["version"],
           **{name: report.get(name) for name in ("exit_status", "wall_time_ns", "simulated_time_ns",
                                                  "thread_instructions", "memory_peak_bytes")}}


def _plain(member):
    return lambda report: ({name: value for name, value in row.items() if not isinstance(value, (dict, list))}
                           for row in report.get(member, ()))


_TABLES = {"run": _run, "verdict": _plain("verdict"), "kernels": _kernels, "shapes": _shapes, "copies": _plain("copies"),
           "lines": _lines, "allocations": _allocations, "pages": _pages, "utilisation": _utilisation,
           "numbers": _numbers}


def _level(rows):
    """All rows with the columns of all, in the order in which they appear first."""
    columns = {name: None for row in rows for name in row}
    return [{**columns, **row} for row in rows]


def _need(package, method):
    try:
        return __import__(package)
    except ImportError:
        raise WarpageError("warpage.report: %s needs the Python package %s: pip install %s"
                           % (method, package, package)) from None


class Run:
    """A report: `report` is what its JSON has, run["kernels"] a table of it."""

    def __init__(self, report):
        self.report = report

    def tables(self):
        """The names of all tables that have rows."""
        return [name for name in _TABLES if self[name]]

    def __getitem__(self, name):
        if name not in _TABLES:
            raise KeyError("no table %r; there are: %s" % (name, ", ".join(_TABLES)))
        return _level(list(_TABLES[name](self.report)))

    def arrow(self, name):
        """A table as a pyarrow.Table."""
        return _need("pyarrow", "arrow").Table.from_pylist(self[name])

    def pandas(self, name):
        """A table as a pandas.DataFrame."""
        return _need("pandas", "pandas").DataFrame(self[name])

    def _write(self, folder, ending, write):
        os.makedirs(folder, exist_ok=True)
        paths = []
        for name in self.tables():
            paths.append(os.path.join(folder, name + ending))
            write(self.arrow(name), paths[-1])
        return paths

    def parquet(self, folder):
        """Writes every table that has rows to FOLDER/NAME.parquet; returns the paths."""
        _need("pyarrow", "parquet")
        import pyarrow.parquet
        return self._write(folder, ".parquet", pyarrow.parquet.write_table)

    def feather(self, folder):
        """Writes them as Arrow files, FOLDER/NAME.arrow."""
        _need("pyarrow", "feather")
        import pyarrow.feather
        return self._write(folder, ".arrow",
                           lambda table, path: pyarrow.feather.write_feather(table, path, compression="uncompressed"))


def open(path):  # pylint: disable=redefined-builtin
    """The report of `warpage run --output PATH`, or in the file of `--report PATH`, as a Run."""
    path = os.fspath(path)
    file_path = os.path.join(path, "report.json") if os.path.isdir(path) else path
    try:
        with builtins.open(file_path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as error:
        raise WarpageError("%s: %s; a report is what warpage run --output %s writes"
                           % (file_path, error.strerror, path)) from None
    except ValueError as error:
        raise WarpageError("%s is no JSON report: %s" % (file_path, error)) from None
    if not isinstance(report, dict) or report.get("schema") != "warpage.run/1":
        raise WarpageError("%s is no report of `warpage run`: its schema is not warpage.run/1" % file_path)
    return Run(report)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the same kernels in CUDA C on the CPU device, in OpenCL on PoCL, and in hand-written C with threads.

Builds into a temporary folder, runs everything in turn, checks the results, prints the tables, and writes
bench/results/<date>-cpu-device.json.gz and .md. See bench/README.md; the JSON is described in bench/schema.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
INSTALL_POCL = "apt-get install pocl-opencl-icd ocl-icd-opencl-dev opencl-headers"
NO_DEVICE = 77

# The same for gcc and clang; -ffp-contract=off because wpcc does not fuse either unless asked to.
C_FLAGS = "-O3 -march=x86-64-v3 -ffp-contract=off -std=c17 -D_POSIX_C_SOURCE=200809L".split()
CPP_FLAGS = "-x c++ -O2 -march=x86-64-v3".split()
HARNESS = ["bench.c", "data.c"]
CASE_FILES = ["empty", "vecadd", "sigmoid", "gather", "reduction", "softmax", "histogram", "sgemm", "bfs"]

# name: (case of the programs, fused?, has barriers?, n in the cache, n beyond it or None, n of --quick)
CASES = {
    "vecadd": ("vecadd", False, False, 1 << 19, 1 << 25, 1 << 16),
    "sigmoid": ("sigmoid", False, False, 1 << 19, 1 << 25, 1 << 16),
    "gather": ("gather", False, False, 1 << 19, 1 << 24, 1 << 16),
    "reduction": ("reduction", False, True, 1 << 20, 1 << 26, 1 << 16),
    "softmax": ("softmax", False, False, 1 << 19, 1 << 25, 1 << 16),
    "histogram_shared": ("histogram_shared", False, True, 1 << 22, 1 << 26, 1 << 18),
    "histogram_global": ("histogram_global", False, False, 1 << 22, 1 << 26, 1 << 18),
    "sgemm": ("sgemm", False, True, 512, 1680, 128),
    "sgemm_fused": ("sgemm", True, True, 512, None, 128),
    "bfs": ("bfs", False, False, 1 << 16, 1 << 21, 1 << 12),
    "bfs_queue": ("bfs_queue", False, True, 1 << 16, 1 << 21, 1 << 12),
}
EMPTY_BLOCKS = (1, 4096)
AIM_POCL = 1.0
AIM_C, AIM_C_BARRIER = 1.2, 2.0

ENGINES = {
    "warpage": "CUDA C by wpcc, CPU device",
    "pocl": "OpenCL on PoCL, its default way to make loops of work items",
    "pocl-repl": "OpenCL on PoCL with POCL_WORK_GROUP_METHOD=workitemrepl",
    "c-gcc": "hand-written C, gcc",
    "c-clang": "hand-written C, clang",
}


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text):
    sys.exit(f"run.py: {text}")


def must(command, env=None):
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command)}\n{done.stderr}")
    return done


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)
        self.wpcc = str(pathlib.Path(options.build).resolve() / "bin" / "wpcc")
        self.programs = {}  # (engine, fused): path
        self.commands = {}  # engine: how it was built
        self.pocl = None  # what the device is; None: there is no PoCL
        self.env = dict(os.environ)
        threads = str(options.threads)
        (self.folder / "pocl-cache").mkdir()
        self.env.update(
            WARPAGE_WORKERS=threads, BENCH_WORKERS=threads, POCL_MAX_PTHREAD_COUNT=threads,
            POCL_CACHE_DIR=str(self.folder / "pocl-cache"), BENCH_PLATFORM="Portable Computing Language",
            BENCH_CL_FOLDER=str(HERE))
        for name in ("WARPAGE_DEVICE", "WARPAGE_RUN_RECORD", "WARPAGE_CPU_ISA", "POCL_WORK_GROUP_METHOD"):
            self.env.pop(name, None)

    # ---- build --------------------------------------------------------------------------------------

    def build_one(self, engine, fused, command):
        path = str(self.folder / (engine + ("-fused" if fused else "")))
        must(command + ["-o", path])
        self.programs[engine, fused] = path
        if not fused:
            text = " ".join(command).replace(self.wpcc, "wpcc").replace(str(self.folder), "$TMP")
            self.commands[engine] = text

    def build_c(self, engine, compiler):
        if shutil.which(compiler) is None:
            say(f"{compiler} is not here: the column {engine} is left out.")
            return
        files = HARNESS + ["threads.c"] + [f + ".c" for f in CASE_FILES]
        for fused in (False, True):
            flags = ["-ffp-contract=fast" if fused and f.startswith("-ffp") else f for f in C_FLAGS]
            self.build_one(engine, fused, [compiler, *flags, *files, "-lpthread", "-lm"])

    def build_pocl(self):
        path = str(self.folder / "pocl")
        command = ["gcc", *C_FLAGS, *HARNESS, "opencl.c", "-lOpenCL", "-lm"]
        built = subprocess.run(command + ["-o", path], cwd=HERE, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            say(f"PoCL is skipped: OpenCL's headers or library are not here; {INSTALL_POCL}")
            return
        described = subprocess.run([path, "empty", "1", "1", "1"], env=self.env | {"BENCH_DESCRIBE": "1"},
                                   capture_output=True, text=True, check=False)
        if described.returncode == NO_DEVICE:
            say(f"PoCL is skipped: no such OpenCL platform is here; {INSTALL_POCL}")
            return
        if described.returncode != 0:
            fail(described.stderr)
        self.pocl = described.stdout.strip()
        for engine in ("pocl", "pocl-repl"):
            self.commands[engine] = " ".join(command)
            for fused in (False, True):
                self.programs[engine, fused] = path

    def build(self):
        if not os.path.exists(self.wpcc):
            fail(f"{self.wpcc} is not here; cmake --preset release && "
                 "ninja -C build/release wpcc libwarpage warpage devicelib")
        objects = []
        for name in HARNESS:
            objects.append(str(self.folder / (name + ".o")))
            must(["gcc", *C_FLAGS, "-c", name, "-o", objects[-1]])
        files = ["device.cu"] + [f + ".cu" for f in CASE_FILES]
        for fused in (False, True):
            extra = ["-fmad=true"] if fused else []
            self.build_one("warpage", fused, [self.wpcc, "-O3", *extra, *files, *objects, "-lm"])
        self.build_pocl()
        self.build_c("c-gcc", "gcc")
        self.build_c("c-clang", "clang-19")

    # ---- run ----------------------------------------------------------------------------------------

    def time_once(self, engine, name, case, fused, n):
        env = dict(self.env)
        if engine == "pocl-repl":
            env["POCL_WORK_GROUP_METHOD"] = "workitemrepl"
            env["POCL_CACHE_DIR"] += "-repl"
            os.makedirs(env["POCL_CACHE_DIR"], exist_ok=True)
        if fused:
            env["BENCH_CL_OPTIONS"] = "-DFUSED"
        command = [self.programs[engine, fused], case, str(n), str(self.options.repetitions),
                   str(self.options.repetition_ms * 1000000)]
        return json.loads(must(command, env).stdout)

    def time_case(self, name, size, n):
        """All engines in turn, several rounds: what disturbs the machine disturbs all of them."""
        case, fused, has_barrier = CASES[name][:3] if name in CASES else ("empty", False, False)
        rows = {}
        for _ in range(self.options.rounds):
            for engine in ENGINES:
                if (engine, fused) not in self.programs:
                    continue
                said = self.time_once(engine, name, case, fused, n)
                if said["error"] > said["error_max"]:
                    fail(f"{name}, n={n}, {engine}: wrong result, off by {said['error']}")
                row = rows.setdefault(engine, {
                    "case": name, "size": size, "n": n, "engine": engine, "has_barrier": has_barrier,
                    "footprint_bytes": said["footprint_bytes"],
                    "check": {"error": said["error"], "error_max": said["error_max"], "hash": said["hash"]},
                    "times_ns": []})
                if row["check"]["hash"] != said["hash"] and said["error_max"] == 0:
                    fail(f"{name}, n={n}, {engine}: two runs gave different results")
                row["times_ns"] += said["times_ns"]
        for row in rows.values():
            row.update(spread(row["times_ns"]))
            row["check"]["same_bits_as_warpage"] = row["check"]["hash"] == rows["warpage"]["check"]["hash"]
            if row["check"]["error_max"] == 0 and not row["check"]["same_bits_as_warpage"]:
                fail(f"{name}, n={n}: {row['engine']} and warpage differ")
        shown = ", ".join(f"{e} {duration(r['median_ns'])}" for e, r in rows.items())
        say(f"{name}, {size}, n={n}: {shown}")
        return list(rows.values())

    def sizes(self):
        for name, (_, _, _, cache, memory, quick) in CASES.items():
            if self.options.only and name not in self.options.only:
                continue
            if self.options.quick:
                yield name, "quick", quick
            else:
                yield name, "cache", cache
                if memory is not None:
                    yield name, "memory", memory
        if not self.options.only or "empty" in self.options.only:
            for blocks in EMPTY_BLOCKS:
                yield "empty", f"{blocks} block{'s' if blocks > 1 else ''}", blocks

    def compile_times(self):
        """wpcc beside clang++ for the same text: device.h makes the .cu files ordinary C++ too."""
        rows = []
        out = str(self.folder / "compiled.o")
        for name in CASE_FILES:
            commands = {"wpcc": [self.wpcc, "-O2", "-c", name + ".cu", "-o", out],
                        "clang++-19": ["clang++-19", *CPP_FLAGS, "-c", name + ".cu", "-o", out]}
            if shutil.which("clang++-19") is None:
                del commands["clang++-19"]
            times = {tool: [] for tool in commands}
            for i in range(1 + self.options.repetitions):
                for tool, command in commands.items():
                    start = time.monotonic_ns()
                    must(command)
                    if i > 0:  # the first is the warm-up
                        times[tool].append(time.monotonic_ns() - start)
            for tool, t in times.items():
                rows.append({"case": "compile:" + name, "size": "file", "engine": tool, "times_ns": t, **spread(t)})
            say(f"compiling {name}.cu: " + ", ".join(f"{r['engine']} {duration(r['median_ns'])}"
                                                     for r in rows[-len(times):]))
        return rows


# ---- numbers ----------------------------------------------------------------------------------------


def spread(times_ns):
    low, middle, high = statistics.quantiles(times_ns, n=4, method="inclusive") if len(times_ns) > 1 \
        else times_ns * 3
    return {"median_ns": middle, "p25_ns": low, "p75_ns": high, "min_ns": min(times_ns), "max_ns": max(times_ns)}


def duration(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.0f} ns"


def compare(rows):
    """Ratios of ours to the better of each rival's forms."""
    def best(name, size, engines):
        found = [r for r in rows if (r["case"], r["size"]) == (name, size) and r["engine"] in engines]
        return min(found, key=lambda r: r["median_ns"], default=None)

    result = []

    def add(ours, theirs, against, aim):
        if theirs is None:
            return
        ratio = ours["median_ns"] / theirs["median_ns"]
        result.append({
            "case": ours["case"], "size": ours["size"], "against": against, "engine": theirs["engine"],
            "ratio": round(ratio, 3), "ratio_of_minima": round(ours["min_ns"] / theirs["min_ns"], 3),
            "aim": aim, "is_met": None if aim is None else ratio <= aim})

    for ours in [r for r in rows if r["engine"] == "warpage"]:
        name, size = ours["case"], ours["size"]
        aim_c = AIM_C_BARRIER if ours["has_barrier"] else AIM_C
        has_aim = name not in ("empty", "sgemm_fused")
        add(ours, best(name, size, ("pocl", "pocl-repl")), "pocl", AIM_POCL if has_aim else None)
        add(ours, best(name, size, ("c-gcc", "c-clang")), "c", aim_c if has_aim else None)
        if name == "histogram_global":
            add(ours, best("histogram_shared", size, ("c-gcc", "c-clang")), "c, counts per thread", aim_c)
    for ours in [r for r in rows if r["engine"] == "wpcc"]:
        add(ours, best(ours["case"], ours["size"], ("clang++-19",)), "clang++", None)
    return result


def versions(bench):
    return {"gcc": about.first_line(["gcc", "--version"]), "clang": about.first_line(["clang-19", "--version"]),
            "pocl": bench.pocl or "not here", "python": platform.python_version(),
            "wpcc": (re.findall(r"Warpage [0-9.]+", about.output_of([bench.wpcc, "--version"])) or ["unknown"])[0]}


# ---- the page ---------------------------------------------------------------------------------------


def bytes_text(count):
    return f"{count / 2**20:.0f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"


def cell(row):
    if row is None:
        return "–"
    half = (row["p75_ns"] - row["p25_ns"]) / 2 / row["median_ns"] * 100
    return f"{duration(row['median_ns'])} ±{half:.0f}%"


def verdict(c):
    if c is None:
        return "–"
    mark = {True: " ✓", False: " ✗", None: ""}[c["is_met"]]
    return f"{c['ratio']:.2f}{mark}"


def page(report):
    rows, comparisons = report["results"], report["comparisons"]
    m, s = report["machine"], report["settings"]
    row_of = {(r["case"], r["size"], r["engine"]): r for r in rows}
    comparison_of = {(c["case"], c["size"], c["against"]): c for c in comparisons}
    before, after = m["load_average_before"][0], m["load_average_after"][0]
    note = [report["note"], ""] if report["note"] else []
    lines = [
        "# The CPU device beside PoCL and hand-written C", "",
        f"{report['date']}, commit {report['commit']}, `{report['command']}`", "", *note,
        f"{m['cpu']}, {m['processors']} processors, {bytes_text(m['last_level_cache_bytes'])} of last-level cache, "
        f"{bytes_text(m['memory_bytes'])} of memory{', a virtual machine' if m['is_virtual'] else ''}. "
        f"Load average {before:.1f} before, {after:.1f} after"
        + ("." if max(before - 1, after - s["threads"] - 1) < 0.5 else
           ": **other programs ran at the same time; the ratios are a sketch.**"), "",
        f"{s['threads']} threads each. Median of {s['rounds'] * s['repetitions']} repetitions and half the distance "
        "between the quartiles, by the wall clock around launch and wait; engines in turn, same data, results checked.",
        "", "`cache`: data within the last-level cache; `memory`: beyond it. A ratio is our time over theirs "
        "(below 1: we are faster), against the better of PoCL's two forms and of the two compilers; "
        f"✓ where it is within the aim: {AIM_POCL:g} against PoCL, {AIM_C:g} against C, {AIM_C_BARRIER:g} "
        "where the kernel has barriers.", "",
        "| case | size | data | warpage | PoCL | PoCL, workitemrepl | C, gcc | C, clang | ours/PoCL | ours/C |",
        "|---|---|---|---|---|---|---|---|---|---|"]
    for r in [r for r in rows if r["engine"] == "warpage"]:
        key = (r["case"], r["size"])
        cells = [cell(row_of.get((*key, e))) for e in ENGINES]
        data = bytes_text(r["footprint_bytes"]) if r["case"] != "empty" else "–"
        lines.append(f"| {r['case']}{' (barriers)' if r['has_barrier'] else ''} | {r['size']} | {data} | "
                     + " | ".join(cells) + f" | {verdict(comparison_of.get((*key, 'pocl')))} | "
                     f"{verdict(comparison_of.get((*key, 'c')))} |")
    for c in [c for c in comparisons if c["against"] == "c, counts per thread"]:
        lines += ["", f"`histogram_global`, {c['size']}: its column C adds atomically to one table, as the kernel "
                  f"does. Against C that counts per thread: {verdict(c)}."]
    lines += ["", "`softmax`: a warp a row of 256, with shuffles; OpenCL exchanges through local memory, with barriers, "
              "and C computes each power once, the kernels twice."]
    lines += ["", "`bfs`: each vertex found takes a place in the next frontier by itself. `bfs_queue`: kernels collect "
              "vertices in a queue for each block, in shared memory, and C in one for each thread."]
    lines += ["", "`sgemm_fused`: multiplication and addition fused everywhere (`wpcc -fmad=true`, OpenCL's default, "
              "`-ffp-contract=fast`); elsewhere nowhere, so that all give the same bits. `empty`: a launch "
              "and a wait; for C, waking the threads and waiting for them."]
    compiled = [r for r in rows if r["engine"] == "wpcc"]
    if compiled:
        lines += ["", "## Compile time", "",
                  "`wpcc -O2 -c` makes host code, kernels for two instruction sets, and bitcode. "
                  "`clang++-19 -O2 -c` compiles the same file as ordinary C++ (`device.h` stands in for the dialect): "
                  "its own CUDA mode needs an SDK.", "",
                  "| file | wpcc | clang++ | ratio |", "|---|---|---|---|"]
        for r in compiled:
            lines.append(f"| {r['case'].split(':')[1]}.cu | {cell(r)} | "
                         f"{cell(row_of.get((r['case'], r['size'], 'clang++-19')))} | "
                         f"{verdict(comparison_of.get((r['case'], r['size'], 'clang++')))} |")
    lines += ["", "## Versions", ""] + [f"- {k}: {v}" for k, v in report["versions"].items()]
    lines += ["", "## Build commands", ""]
    lines += [f"- {e}: `{c}`" for e, c in report["build_commands"].items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), help="build tree with bin/wpcc")
    parser.add_argument("--results", default=str(ROOT / "bench" / "results"), help="folder to write to")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2, help="rounds, in each of which every engine runs once (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=5, help="repetitions in each round (default: %(default)s)")
    parser.add_argument("--repetition-ms", type=int, default=5, help="repeat short runs for this time (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=[*CASES, "empty"], help="run only this case; may be repeated")
    parser.add_argument("--note", default="", help="text to store with the results")
    parser.add_argument("--no-compile-times", action="store_true")
    parser.add_argument("--quick", action="store_true", help="check that every case works, at tiny sizes; write nothing")
    options = parser.parse_args()

    load_before = os.getloadavg()
    commit = about.checked_out()
    with tempfile.TemporaryDirectory(prefix="warpage-bench-") as folder:
        bench = Bench(options, folder)
        bench.build()
        rows = [row for case in bench.sizes() for row in bench.time_case(*case)]
        if not options.no_compile_times:
            rows += bench.compile_times()
        now = datetime.datetime.now(datetime.timezone.utc)
        report = {
            "schema": "warpage-bench-1", "bench": "cpu-device", "date": now.strftime("%Y-%m-%d %H:%M UTC"),
            "commit": commit, "note": options.note,
            "command": " ".join(["python3", "bench/micro/run.py", *sys.argv[1:]]),
            "machine": about.machine() | {"load_average_before": load_before, "load_average_after": os.getloadavg()},
            "versions": versions(bench),
            "settings": {"threads": options.threads, "rounds": options.rounds, "repetitions": options.repetitions,
                         "repetition_ms": options.repetition_ms, "clock": "wall, around launch and wait"},
            "engines": {e: text for e, text in ENGINES.items() if (e, False) in bench.programs},
            "build_commands": bench.commands, "results": rows, "comparisons": compare(rows)}
    text = page(report)
    print(text)
    if options.quick:
        return
    for row in rows:
        is_too_large = row["size"] == "cache" and row["footprint_bytes"] > report["machine"]["last_level_cache_bytes"]
        is_too_small = row["size"] == "memory" and row["footprint_bytes"] < report["machine"]["last_level_cache_bytes"]
        if (is_too_large or is_too_small) and row["engine"] == "warpage":
            say(f"{row['case']}, {row['size']}: {bytes_text(row['footprint_bytes'])} does not fit that name here.")
    path = pathlib.Path(options.results) / f"{now:%Y-%m-%d}-cpu-device"
    path.parent.mkdir(parents=True, exist_ok=True)
    about.write_raw(path, report)
    path.with_suffix(".md").write_text(text)
    say(f"written: {path}.json.gz and .md")


if __name__ == "__main__":
    main()

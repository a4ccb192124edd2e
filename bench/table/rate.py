#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hash table's insert rate: kernels on the CPU device beside two host threads that use the same header.

    python3 bench/table/rate.py [--build build/release] [--pairs 10000000] [--keys 1000000] [--rounds 7] [--dry]

Both programs insert the same 8-byte pairs into a table of each organisation, in turn; a number is the median of the rounds, of
the time of the pass (inserts only) and of wp_table_run (with moving the table to host memory). Writes
bench/results/<date>-table.json.gz and .md.
"""
import argparse
import datetime
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
ENGINES = {"warpage": "kernels on the CPU device, 2 workers", "threads": "2 POSIX threads, clang -O3"}
ORGANISATIONS = ["basic", "multi-valued", "combining"]
AIM = 2.0  # our time over theirs, at most


def build(options, folder):
    source = ROOT / "bench/table"
    library = options.build / "lib"
    commands = {
        "warpage": [options.build / "bin/wpcc", "-O3", source / "rate.cu", "-o", folder / "warpage"],
        "threads": ["clang-19", "-std=c17", "-O3", "-march=x86-64-v3", "-I", ROOT / "include", source / "rate.c", "-o",
                    folder / "threads", "-L", library, f"-Wl,-rpath,{library}", "-lwarpage", "-lpthread"]}
    for command in commands.values():
        subprocess.run(command, check=True)
    return {name: shlex.join(str(word) for word in command).replace(str(ROOT) + "/", "").replace(str(folder) + "/", "")
            for name, command in commands.items()}


def run(options, program):
    """(pass ns, run ns) by organisation."""
    environment = dict(os.environ, WARPAGE_DEVICE="cpu", WARPAGE_WORKERS="2")
    result = subprocess.run([program, str(options.pairs), str(options.keys), str(options.heap)], env=environment,
                            stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{program}: exit status {result.returncode}")
    return {name: (int(pass_ns), int(run_ns)) for name, pass_ns, run_ns, _ in map(str.split, result.stdout.splitlines())}


def measure(options, folder):
    times = {(case, part, engine): [] for case in ORGANISATIONS for part in ("pass", "run") for engine in ENGINES}
    for turn in range(options.rounds):
        for engine in ENGINES:
            for case, (pass_ns, run_ns) in run(options, folder / engine).items():
                times[case, "pass", engine].append(pass_ns)
                times[case, "run", engine].append(run_ns)
        print(f"round {turn + 1} of {options.rounds}", flush=True)
    return times


def report_of(options, times, commands, command, facts):
    rows, comparisons = [], []
    for (case, part, engine), each in times.items():
        quartiles = statistics.quantiles(each, n=4) if len(each) > 1 else each * 3
        rows.append({"case": case, "size": part, "n": options.pairs, "engine": engine, "times_ns": each,
                     "median_ns": statistics.median(each), "p25_ns": quartiles[0], "p75_ns": quartiles[2],
                     "min_ns": min(each), "max_ns": max(each)})
    for case in ORGANISATIONS:
        for part in ("pass", "run"):
            ours, theirs = times[case, part, "warpage"], times[case, part, "threads"]
            ratio = statistics.median(ours) / statistics.median(theirs)
            comparisons.append({"case": case, "size": part, "against": "threads", "engine": "threads", "ratio": ratio,
                                "ratio_of_minima": min(ours) / min(theirs), "aim": AIM, "is_met": ratio <= AIM})
    return {"schema": "warpage-bench-1", "bench": "table", "date": datetime.date.today().isoformat(), "command": command,
            "note": "size: pass is the kernel or the threads alone, run is wp_table_run", **facts, "engines": ENGINES,
            "build_commands": commands,
            "settings": {"pairs": options.pairs, "keys": options.keys, "heap_bytes": options.heap, "rounds": options.rounds},
            "results": rows, "comparisons": comparisons}


def page(report):
    rate = {(row["case"], row["size"], row["engine"]): row["n"] / row["median_ns"] * 1e3 for row in report["results"]}
    settings = report["settings"]
    lines = ["# The hash table's insert rate", "",
             f"{report['date']}, commit {report['commit']}. `{report['command']}`", "",
             f"{settings['pairs']:,} pairs of 8-byte keys and values, {settings['keys']:,} keys, one pass; the CPU device with 2",
             f"workers beside 2 host threads that use the same header. Median of {settings['rounds']} rounds on "
             f"{report['machine']['cpu']},", f"load average before: {report['machine']['load_average_before'][0]:.1f}.", "",
             "| organisation | time of | kernels, M pairs/s | threads, M pairs/s | rate over threads | of the best rounds | aim |",
             "|---|---|---|---|---|---|---|"]
    for c in report["comparisons"]:
        ours, theirs = (rate[c["case"], c["size"], engine] for engine in ("warpage", "threads"))
        lines.append(f"| {c['case']} | {c['size']} | {ours:.1f} | {theirs:.1f} | {1 / c['ratio']:.2f} | {1 / c['ratio_of_minima']:.2f} | "
                     f"{1 / c['aim']:.1f}: {'met' if c['is_met'] else 'missed'} |")
    lines += ["", "`pass` is inserting alone; `run` adds moving the table to host memory and counting it, by one thread in both."]
    if report["machine"]["load_average_before"][0] > 2:
        lines[-1] += "\nOther work kept the processors busy: compare the programs, best round beside best round, not with other runs."
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree")
    parser.add_argument("--pairs", type=int, default=10**7, help="pairs inserted (default: 10000000)")
    parser.add_argument("--keys", type=int, default=10**6, help="different keys, at most (default: 1000000)")
    parser.add_argument("--heap", type=int, default=4 << 30, help="bytes of heap (default: 4 GiB, one pass)")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each program, in turn (default: 7)")
    parser.add_argument("--dry", action="store_true", help="print the page, write nothing")
    options = parser.parse_args()
    options.build = options.build.resolve()
    before = os.getloadavg()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        commands = build(options, folder)
        times = measure(options, folder)
    facts = {"commit": about.checked_out(), "machine": {**about.machine(), "load_average_before": before,
                                                         "load_average_after": os.getloadavg()}}
    command = "python3 " + shlex.join(["bench/table/rate.py", *sys.argv[1:]])
    report = report_of(options, times, commands, command, facts)
    print(page(report))
    if not options.dry:
        base = ROOT / "bench/results" / f"{report['date']}-table"
        about.write_raw(base, report)
        base.with_suffix(".md").write_text(page(report))


if __name__ == "__main__":
    main()

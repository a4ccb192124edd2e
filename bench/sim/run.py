#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times simulated GPUs: programs that do what the benchmarks of GPGPU-Sim UVMSmart do, on sim:gtx1080ti.

Theirs are times that others have logged; ours are taken here, once to fill the cache of compiled kernels
("cold") and then the median of several runs. Prints a table and writes bench/results/<date>-simulator.json
and .md. See bench/README.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# What GPGPU-Sim UVMSmart took: wall seconds and simulated thread instructions. "logged" are the shortest of
# the result logs that its repository carries (benchmarks/Results); "run" were taken with its GTX 1080 Ti
# configuration on 2 virtual processors at 2.5 GHz, two runs at a time.
LOGGED = "logged"
RUN = "run"

# name: (program, arguments, extra settings, (whose time, seconds, thread instructions) or None)
CASES = {
    "random access, 2^20 updates": ("random_access", ["20", "20"], {}, (LOGGED, 1775, 21149782)),
    "convolution 1024 x 1024": ("convolution", ["1024"], {}, (LOGGED, 1509, 50212980)),
    "layer, 163840 inputs": ("layer", ["163840"], {}, (LOGGED, 5992, 338124832)),
    "heat, 1024 x 1024, 8 steps": ("hotspot", ["--size", "1M", "--iterations", "8"], {},
                                   (LOGGED, 6934, 1661865856)),
    "random access, again": ("random_access", ["20", "20"], {}, (RUN, 167, 21149782)),
    "add vectors, 2^17": ("add_vectors", ["131072"], {}, (RUN, 64, 4718592)),
    "convolution 256 x 256": ("convolution", ["256"], {}, (RUN, 198, 2920560)),
    "layer, 4096 inputs": ("layer", ["4096"], {}, (RUN, 219, 8409440)),
    "alignment of 128": ("alignment", ["128"], {}, (RUN, 161, 412024)),
    "diffusion 128 x 128": ("diffusion", ["128"], {}, (RUN, 36, 4620420)),
    "heat, 64 x 64, 6 steps": ("hotspot", ["--size", "4096", "--iterations", "6"], {},
                               (RUN, 28, 1599784)),
}
LARGE = {
    "random access, 4 GiB, 2^29 updates": ("random_access", ["29", "29"],
                                           {"WARPAGE_SET": "gpu.memory=6GiB"}, None),
}
AIM_RATIO, FLOOR_RATIO = 1000, 100


def say(text):
    print(text, file=sys.stderr, flush=True)


def text_of(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def build(program, tree, folder):
    """The path of a program: one of the apps, or compiled from here."""
    app = tree / "apps" / program
    if app.exists():
        return app
    out = folder / program
    subprocess.run([tree / "bin/wpcc", "-O2", HERE / "programs" / f"{program}.cu", "-o", out], check=True)
    return out


def run_once(command, environment):
    """Wall seconds and the largest resident set in bytes."""
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, errors = process.communicate()
    seconds = time.monotonic() - started
    if process.returncode != 0 or b"WRONG" in out:
        sys.exit(f"run.py: {' '.join(map(str, command))}: {out.decode()}{errors.decode()}")
    return seconds


def measure(case, tree, folder, device, runs):
    program, arguments, settings, theirs = case
    path = build(program, tree, folder)
    cache = folder / f"cache-{program}"
    environment = dict(os.environ, **settings, WARPAGE_DEVICE=device, WARPAGE_CACHE=str(cache))
    command = [str(path), *arguments]
    report = folder / "report.json"
    reported = [str(tree / "bin/warpage"), "run", "--device", device, "--report", str(report), "--", *command]
    if runs > 1:
        cold = run_once(command, environment)
        times = [run_once(command, environment) for _ in range(runs)]
        run_once(reported, environment)
    else:  # too long to be run again for its report
        cold, times = None, [run_once(reported, environment)]
    numbers = json.loads(report.read_text())
    row = {
        "program": program,
        "arguments": arguments,
        "cold_s": cold,
        "times_s": times,
        "median_s": statistics.median(times),
        "thread_instructions": numbers["thread_instructions"],
        "simulated_time_ns": numbers["simulated_time_ns"],
    }
    row["thread_instructions_per_s"] = row["thread_instructions"] / row["median_s"]
    if theirs is not None:
        whose, seconds, instructions = theirs
        row["uvmsmart"] = {"whose": whose, "seconds": seconds, "thread_instructions": instructions}
        row["ratio"] = seconds / row["median_s"]
        row["ratio_of_rates"] = row["thread_instructions_per_s"] / (instructions / seconds)
    return row


def table(results):
    lines = [
        "| case | ours, s (cold) | thread instructions | M/s | UVMSmart, s | thread instructions | ratio | ratio of rates |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in results.items():
        cold = f" ({row['cold_s']:.2f})" if row["cold_s"] is not None else ""
        theirs = row.get("uvmsmart")
        other = (f"{theirs['seconds']:,} {theirs['whose']} | {theirs['thread_instructions']:,} | "
                 f"{row['ratio']:,.0f} | {row['ratio_of_rates']:,.0f}" if theirs else "| | |")
        lines.append(f"| {name} | {row['median_s']:.2f}{cold} | {row['thread_instructions']:,} | "
                     f"{row['thread_instructions_per_s'] / 1e6:.1f} | {other} |")
    return "\n".join(lines)


def page(header, results):
    ratios = [row["ratio"] for row in results.values() if "ratio" in row]
    verdict = ""
    if ratios:
        mean = statistics.geometric_mean(ratios)
        verdict = (f"\n\nRatio of wall times: {min(ratios):,.0f} to {max(ratios):,.0f}, geometric mean {mean:,.0f} "
                   f"(aim {AIM_RATIO:,}, floor {FLOOR_RATIO}).")
    return (f"# Simulated GPUs: speed\n\n{header['date']}, commit {header['commit']}, {header['machine']['cpu']}, "
            f"{header['machine']['processors']} processors, load {header['machine']['load_average_before']}.\n"
            f"Command: `{header['command']}`\n\n{table(results)}{verdict}\n\n"
            "UVMSmart's times are not taken here: \"logged\" is the shortest run in the logs that its repository carries,\n"
            "\"run\" one on 2 virtual processors at 2.5 GHz. Its programs page through unified memory, ours are resident.\n"
            f"Largest resident set of a program: {header['largest_resident_bytes'] / 2**20:,.0f} MiB.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build tree (release)")
    parser.add_argument("--device", default="sim:gtx1080ti")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--large", action="store_true", help="2^29 random updates over 4 GiB, once")
    parser.add_argument("--results", default=str(ROOT / "bench/results"), help="folder for the results")
    args = parser.parse_args()
    tree = (ROOT / args.build).resolve()
    cases = {**CASES, **(LARGE if args.large else {})}
    if args.only:
        cases = {name: case for name, case in cases.items() if args.only in name}
    before = os.getloadavg()[0]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases.items():
            say(f"{name} …")
            runs = 1 if name in LARGE else args.runs
            results[name] = measure(case, tree, pathlib.Path(folder), args.device, runs)
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    header = {
        "schema": "warpage-bench-1",
        "bench": "simulator",
        "date": datetime.date.today().isoformat(),
        "commit": text_of(["git", "rev-parse", "--short", "HEAD"]),
        "command": "python3 bench/sim/run.py " + " ".join(a for a in sys.argv[1:] if not a.startswith("/")),
        "device": args.device,
        "machine": {"cpu": cpu, "processors": os.cpu_count(), "load_average_before": round(before, 2),
                    "load_average_after": round(os.getloadavg()[0], 2)},
        "largest_resident_bytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
    }
    text = page(header, results)
    print(text)
    if not args.only:
        target = pathlib.Path(args.results) / f"{header['date']}-simulator"
        target.with_suffix(".md").write_text(text)
        target.with_suffix(".json").write_text(json.dumps({**header, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

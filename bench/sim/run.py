#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times simulated GPUs: programs that do what the benchmarks of GPGPU-Sim UVMSmart do, on sim:gtx1080ti, with
all data on the device (--cases resident) or paged.

Theirs are times that others have logged; ours are taken here, once to fill the cache of compiled kernels
("cold") and then the median of several runs. Prints a table and writes bench/results/<date>-simulator.json.gz
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
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

# What GPGPU-Sim UVMSmart took: wall seconds and simulated thread instructions. "logged" are the shortest of
# the result logs that its repository carries (benchmarks/Results); "run" were taken with its GTX 1080 Ti
# configuration on 2 virtual processors at 2.5 GHz, two runs at a time.
LOGGED = "logged"
RUN = "run"

DEVICE = "sim:gtx1080ti"


class Case(typing.NamedTuple):
    program: str
    arguments: str
    theirs: tuple | None = None  # whose time, seconds, thread instructions
    options: str = ""            # of `warpage run`
    device: str = DEVICE
    resident: str | None = None  # the case that does the same without paging


RESIDENT = {
    "random access, 2^20 updates": Case("random_access", "20 20", (LOGGED, 1775, 21149782)),
    "convolution 1024 x 1024": Case("convolution", "1024", (LOGGED, 1509, 50212980)),
    "layer, 163840 inputs": Case("layer", "163840", (LOGGED, 5992, 338124832)),
    "heat, 1024 x 1024, 8 steps": Case("hotspot", "--size 1M --iterations 8", (LOGGED, 6934, 1661865856)),
    "random access, again": Case("random_access", "20 20", (RUN, 167, 21149782)),
    "add vectors, 2^17": Case("add_vectors", "131072", (RUN, 64, 4718592)),
    "convolution 256 x 256": Case("convolution", "256", (RUN, 198, 2920560)),
    "layer, 4096 inputs": Case("layer", "4096", (RUN, 219, 8409440)),
    "alignment of 128": Case("alignment", "128", (RUN, 161, 412024)),
    "diffusion 128 x 128": Case("diffusion", "128", (RUN, 36, 4620420)),
    "heat, 64 x 64, 6 steps": Case("hotspot", "--size 4096 --iterations 6", (RUN, 28, 1599784)),
}


def paged_cases():
    """Programs of the published size, as UVMSmart pages: with memory enough, and with too little of it. Its
    seconds are of the log of that very experiment."""
    programs = {
        "hotspot": ("--size 1M --iterations 8 --steps-per-launch 2", 1661865856,
                    {"1GiB": 6934, "10.9091MB": 8555}, 13471),
        "fdtd-2d": ("--size 1440000 --iterations 5", 753552000, {"1GiB": 24741, "16.42045MB": 31378}, 38155),
        "backprop": ("--size 131056", 338124832, {"1GiB": 6807, "15.96591MB": 5992}, 21207),
    }
    cases = {}
    for program, (size, instructions, seconds, on_demand_s) in programs.items():
        resident = f"{program}, by copies"
        cases[resident] = Case(program, f"{size} --memory copy", device=f"{DEVICE}+uvmsmart")
        managed = Case(program, f"{size} --memory managed", device=f"{DEVICE}+uvmsmart", resident=resident)
        cases[f"{program}, on demand"] = managed._replace(
            theirs=(LOGGED, on_demand_s, instructions), options="--prefetch none")
        for memory, logged_s in seconds.items():
            words = "fits" if memory == "1GiB" else "110 %"
            size_option = [] if memory == "1GiB" else [f"--set gpu.memory={round(float(memory[:-2]) * 2**20)}B"]
            cases[f"{program}, tree, {words}"] = managed._replace(
                theirs=(LOGGED, logged_s, instructions), options=" ".join(["--prefetch tree --evict tree", *size_option]))
    return cases


LARGE = {
    "random access, 4 GiB, 2^29 updates": Case("random_access", "29 29", options="--set gpu.memory=6GiB"),
}
LARGE_PAGED = {
    "random reads, 4 GiB at 125 %, 2^28 reads": Case("random_reads", "29 28", options="--oversubscribe 125%"),
}
GROUPS = {"resident": RESIDENT, "paged": paged_cases(), "large": LARGE, "large-paged": LARGE_PAGED}
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
    """Wall seconds, and those of processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, errors = process.communicate()
    seconds = time.monotonic() - started
    if process.returncode != 0 or b"WRONG" in out:
        sys.exit(f"run.py: {' '.join(map(str, command))}: {out.decode()}{errors.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(case, tree, folder, runs):
    path = build(case.program, tree, folder)
    report = folder / "report.json"
    environment = dict(os.environ, WARPAGE_CACHE=str(folder / f"cache-{case.program}"))
    command = [str(tree / "bin/warpage"), "run", "--device", case.device, *case.options.split(), "--report", str(report),
               "--", str(path), *case.arguments.split()]
    cold = run_once(command, environment)[0] if runs > 1 else None
    times, processor_times = zip(*(run_once(command, environment) for _ in range(runs)))
    numbers = json.loads(report.read_text())
    row = {
        **case._asdict(),
        "cold_s": cold,
        "times_s": times,
        "median_s": statistics.median(times),
        "median_processor_s": statistics.median(processor_times),
        "thread_instructions": numbers["thread_instructions"],
        "simulated_time_ns": numbers["simulated_time_ns"],
    }
    row["thread_instructions_per_s"] = row["thread_instructions"] / row["median_s"]
    if case.theirs is not None:
        whose, seconds, instructions = row.pop("theirs")
        row["uvmsmart"] = {"whose": whose, "seconds": seconds, "thread_instructions": instructions}
        row["ratio"] = seconds / row["median_s"]
        row["ratio_of_rates"] = row["thread_instructions_per_s"] / (instructions / seconds)
    return row


def table(results):
    lines = [
        "| case | ours, s (cold) | processor, s | of resident | thread instructions | M/s | UVMSmart, s | thread instructions | ratio "
        "| ratio of rates |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in results.items():
        cold = f" ({row['cold_s']:.2f})" if row["cold_s"] is not None else ""
        resident = results.get(row["resident"])
        share = f"{row['median_processor_s'] / resident['median_processor_s']:.2f}" if resident else ""
        theirs = row.get("uvmsmart")
        other = (f"{theirs['seconds']:,} {theirs['whose']} | {theirs['thread_instructions']:,} | "
                 f"{row['ratio']:,.0f} | {row['ratio_of_rates']:,.0f}" if theirs else "| | |")
        lines.append(f"| {name} | {row['median_s']:.2f}{cold} | {row['median_processor_s']:.2f} | {share} | {row['thread_instructions']:,} | "
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
            "UVMSmart's times are not taken here: \"logged\" is a run in the logs that its repository carries (resident: the\n"
            "shortest; paged: of the same experiment), \"run\" one on 2 virtual processors at 2.5 GHz. Its programs always page\n"
            "through unified memory. \"Of resident\": our processor time over that of the same program by copies.\n"
            f"Largest resident set of a program: {header['largest_resident_bytes'] / 2**20:,.0f} MiB.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build tree (release)")
    parser.add_argument("--cases", default="resident", help="groups of cases, separated by commas: " + ", ".join(GROUPS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="run only cases whose name contains this")
    parser.add_argument("--results", default=str(ROOT / "bench/results"), help="folder for the results")
    args = parser.parse_args()
    tree = (ROOT / args.build).resolve()
    unknown = set(args.cases.split(",")) - set(GROUPS)
    if unknown:
        sys.exit(f"run.py: --cases {args.cases}: unknown group; the groups are {', '.join(GROUPS)}")
    cases = {name: case for group in args.cases.split(",") for name, case in GROUPS[group].items()}
    if args.only:
        cases = {name: case for name, case in cases.items() if args.only in name}
    before = os.getloadavg()[0]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases.items():
            say(f"{name} …")
            is_large = name in LARGE or name in LARGE_PAGED
            results[name] = measure(case, tree, pathlib.Path(folder), 1 if is_large else args.runs)
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    header = {
        "schema": "warpage-bench-1",
        "bench": "simulator",
        "date": datetime.date.today().isoformat(),
        "commit": text_of(["git", "rev-parse", "--short", "HEAD"]),
        "command": "python3 bench/sim/run.py " + " ".join(a for a in sys.argv[1:] if not a.startswith("/")),
        "machine": {"cpu": cpu, "processors": os.cpu_count(), "load_average_before": round(before, 2),
                    "load_average_after": round(os.getloadavg()[0], 2)},
        "largest_resident_bytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
    }
    text = page(header, results)
    print(text)
    if not args.only:
        groups = "" if args.cases == "resident" else "-" + args.cases.replace(",", "-")
        target = pathlib.Path(args.results) / f"{header['date']}-simulator{groups}"
        target.with_suffix(".md").write_text(text)
        about.write_raw(target, {**header, "results": results})


if __name__ == "__main__":
    main()

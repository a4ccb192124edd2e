#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times this build and another one, such as an older commit's, in turns in one run.

    bench/against.py OTHER_BUILD [--build BUILD] [--rounds N]

Both need bin/warpage, bin/wpcc, lib/libwarpage_ops.so, and the apps bfs, fdtd-2d, spmv and ra. A case is the least
processor time of the rounds (user and system), which other work on the machine disturbs least. Writes
bench/results/<date>-against.md.
"""
import argparse
import datetime
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile

import about

ROOT = about.ROOT
PAGED = ["--memory", "managed"]
SIMULATED = {
    "bfs, 64K vertices, gtx1080ti": ("sim:gtx1080ti", [], ["bfs", "--size", "64K"]),
    "spmv, 32K rows, v100": ("sim:v100", [], ["spmv", "--size", "32K"]),
    "fdtd-2d, 256K cells, gtx1080ti": ("sim:gtx1080ti", [], ["fdtd-2d", "--size", "256K", "--iterations", "4"]),
    "ra, 512K entries, paged at 125%": ("sim:gtx1080ti", ["--oversubscribe", "125%"], ["ra", "--size", "512K", *PAGED]),
    "bfs, 32K vertices, paged at 125%":
        ("sim:gtx1080ti", ["--oversubscribe", "125%"], ["bfs", "--size", "32K", *PAGED]),
}
COMPILED = ["bfs", "fdtd-2d", "spmv", "ra"]
GROUP_BY_ROWS = 2_000_000


def processor_s(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"against.py: {' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-500:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def write_table(path):
    numbers = random.Random(1)
    with open(path, "w", encoding="ascii") as out:
        out.write("key,value\n")
        for _ in range(GROUP_BY_ROWS):
            out.write(f"{numbers.randrange(100_000)},{numbers.randrange(1000)}\n")


def commands(build, temp):
    """(case, command) of one build."""
    source = temp / "apps"
    for name, (device, options, app) in SIMULATED.items():
        yield "simulate " + name, [build / "bin/warpage", "run", "--device", device, *options,
                                   build / "apps" / app[0], *app[1:]]
    for app in COMPILED:
        yield "compile " + app, [build / "bin/wpcc", "-O2", "-I", source, "-c", source / app / f"{app}.cu", "-o",
                                 temp / "object.o"]
    yield f"group {GROUP_BY_ROWS:,} rows of CSV", [build / "bin/warpage", "groupby", "--key", "key", "--agg",
                                                   "count,sum:value", "--output", temp / "groups.csv",
                                                   temp / "table.csv"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    builds = {"other": arguments.other.resolve(), "this": arguments.build.resolve()}
    with tempfile.TemporaryDirectory() as folder:
        temp = pathlib.Path(folder)
        write_table(temp / "table.csv")
        # Both compile the same sources: the other build's, which both understand.
        os.symlink(builds["other"].parent.parent / "apps", temp / "apps")
        times = {}
        for round_ in range(arguments.rounds + 1): # the first fills the caches of compiled kernels
            for which, build in builds.items():
                environment = {**os.environ, "XDG_CACHE_HOME": str(temp / which)}
                for case, command in commands(build, temp):
                    time_s = processor_s(command, environment)
                    if round_ > 0:
                        times.setdefault(case, {}).setdefault(which, []).append(time_s)
    commits = {which: about.output_of(["git", "-C", str(build), "log", "-1", "--format=%h of %as"])
               for which, build in builds.items()}
    lines = ["# This build against another", "",
             f"{datetime.date.today()}, {about.machine()['cpu']}. Least processor seconds of {arguments.rounds} runs, in "
             "turns.", f"Command: `bench/against.py OTHER_BUILD --rounds {arguments.rounds}`", "",
             f"| case | {commits['other']} | {commits['this']} | ratio |", "|---|---|---|---|"]
    for case, of in times.items():
        other, this = min(of["other"]), min(of["this"])
        lines.append(f"| {case} | {other:.3f} | {this:.3f} | {this / other:.2f} |")
    ratios = [min(of["this"]) / min(of["other"]) for of in times.values()]
    lines += ["", f"Geometric mean {statistics.geometric_mean(ratios):.2f}; load {os.getloadavg()[0]:.1f} at the end."]
    text = "\n".join(lines) + "\n"
    print(text)
    (ROOT / f"bench/results/{datetime.date.today()}-against.md").write_text(text)


if __name__ == "__main__":
    main()

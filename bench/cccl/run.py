#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thrust on the CPU device beside the parallel algorithms of the C++ library (GCC's, over TBB).

    python3 bench/cccl/run.py [--build build/release] [--count 10000000] [--rounds 10] [--no-compile-times] [--dry]

Both sum, scan and sort the same random numbers, and their results must be equal; the time is that of the fastest of some
rounds, in turns of the two programs. Also the compile time of the Thrust program: by wpcc, for any x86-64 and for
this processor, and by NVIDIA's nvcc, if $NVCC or the PATH has one. Needs Thrust (`warpage doctor --install cccl`)
and TBB (`apt-get install libtbb-dev`). Writes bench/results/<date>-thrust.md.
"""
import argparse
import datetime
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import about  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
AIM = 2.0  # Thrust over the C++ library, wpcc over nvcc: at most
TURNS = 2


def run(command, **more):
    """What it printed; the processor seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return done.stdout, sum(getattr(after, what) - getattr(before, what) for what in ("ru_utime", "ru_stime"))


def measure(programs, options):
    """{(type, algorithm): {engine: ms}}; ends where results differ."""
    times, sums = {}, {}
    for _ in range(TURNS):
        for engine, program in programs.items():
            text, _ = run([program, options.count, options.rounds], env=dict(os.environ, WARPAGE_DEVICE="cpu"))
            for line in text.split():
                kind, what, ms, digest = line.split(",")
                row = times.setdefault((kind, what), {})
                row[engine] = min(row.get(engine, float("inf")), float(ms))
                if sums.setdefault((kind, what), digest) != digest:
                    sys.exit(f"{kind}, {what}: {engine} has another result")
    return times


def compile_times(options, folder):
    """{compiler: processor seconds}"""
    source = HERE / "thrust.cu"
    wpcc = options.build / "bin/wpcc"
    seconds = {}
    for isa in ("all", "native"):
        run([wpcc, "-O2", f"--cpu-isa={isa}", "-c", source, "-o", folder / "warm.o"])  # headers are read once for all programs
        seconds[f"wpcc --cpu-isa={isa}"] = run([wpcc, "-O2", f"--cpu-isa={isa}", "-c", source, "-o", folder / "thrust.o"])[1]
    nvcc = os.environ.get("NVCC") or shutil.which("nvcc")
    if nvcc:
        version = about.first_line([nvcc, "--version"]) and about.output_of([nvcc, "--version"]).splitlines()[-2]
        seconds["nvcc"] = run([nvcc, "-O2", "-arch=sm_80", "-c", source, "-o", folder / "nvcc.o"])[1]
        print(f"nvcc: {version}")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=about.ROOT / "build/release")
    parser.add_argument("--count", type=int, default=10_000_000, help="numbers")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--no-compile-times", action="store_true")
    parser.add_argument("--dry", action="store_true", help="writes nothing")
    options = parser.parse_args()
    commit, before = about.checked_out(), os.getloadavg()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = {"thrust": folder / "thrust", "c++": folder / "parallel"}
        run([options.build / "bin/wpcc", "-O2", HERE / "thrust.cu", "-o", programs["thrust"]])
        run(["g++", "-std=c++17", "-O3", "-march=x86-64-v3", HERE / "parallel.cpp", "-o", programs["c++"], "-ltbb"])
        times = measure(programs, options)
        seconds = {} if options.no_compile_times else compile_times(options, folder)
    lines = ["| numbers | algorithm | Thrust, `cpu` | C++, TBB | ratio |", "|---|---|---:|---:|---:|"]
    lines += [f"| {kind} | {what} | {row['thrust']:.1f} ms | {row['c++']:.1f} ms | {row['thrust'] / row['c++']:.2f} |"
              for (kind, what), row in times.items()]
    if seconds:
        lines += ["", "| compiler | processor seconds | over nvcc |", "|---|---:|---:|"]
    lines += [f"| `{what}` | {spent:.1f} | {'' if 'nvcc' not in seconds else format(spent / seconds['nvcc'], '.2f')} |"
              for what, spent in seconds.items()]
    text = "\n".join(lines)
    print(text)
    if options.dry:
        return
    machine, date = about.machine(), datetime.date.today().isoformat()
    (about.ROOT / f"bench/results/{date}-thrust.md").write_text(
        "# Thrust on the CPU device beside the C++ library\n\n"
        f"{date}, commit {commit}; {machine['cpu']}, {machine['processors']} processors, load average {before[0]:.0f} at the start.\n"
        f"`python3 bench/cccl/run.py --count {options.count} --rounds {options.rounds}`: the fastest of {options.rounds * TURNS} rounds; the results\n"
        f"are equal. Aim: at most {AIM:.0f} times the C++ library, and {AIM:.0f} times NVIDIA's compiler.\n\n" + text + "\n", encoding="utf-8")


main()

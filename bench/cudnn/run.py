#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuDNN's convolutions on the CPU device beside JAX on the processor.

    python3 bench/cudnn/run.py [--build build/release] [--rounds 5] [--turns 3] [--only NAME] [--earlier FOLDER] [--dry]

The same convolutions of floats with both gradients, of layers of public networks. The time of a call is the shortest of some
rounds, in turns of the engines, by the wall clock and in processor seconds, which other programs affect less. JAX, of which
`pip install jax` has the CPU's part, compiles a function of each call first. --earlier: a folder with another libcudnn.so.9,
measured too. Writes bench/results/<date>-cudnn.md.
"""
import argparse
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import about  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WAYS = ("forward", "data", "filter")
# images, channels, size, maps, window, step, padding, groups
CASES = {"64 channels, 56x56, 3x3": (8, 64, 56, 64, 3, 1, 1, 1), "256 channels, 14x14, 3x3": (8, 256, 14, 256, 3, 1, 1, 1),
         "256 to 64 channels, 56x56, 1x1": (8, 256, 56, 64, 1, 1, 0, 1), "128 channels, 56x56, 3x3, stride 2": (8, 128, 56, 128, 3, 2, 1, 1),
         "3 to 64 channels, 224x224, 7x7, stride 2": (8, 3, 224, 64, 7, 2, 3, 1),
         "64 channels, 56x56, 3x3, 64 groups": (8, 64, 56, 64, 3, 1, 1, 64)}


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return done.stdout


def of_warpage(program, rounds, case, **more):
    """[(wall, processor)] of the three ways"""
    text = run([program, rounds, "case:" + ",".join(map(str, case))], env=dict(os.environ, WARPAGE_DEVICE="cpu", **more))
    numbers = [float(word) for word in text.split()[1:]]
    return list(zip(numbers[:3], numbers[3:]))


def of_jax(rounds, case):
    """The same in a process of its own, since a process has one set of threads."""
    return eval(run([sys.executable, HERE / "jax_convolutions.py", rounds, *case], env=dict(os.environ, JAX_PLATFORMS="cpu")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=about.ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", help="cases whose name has this text")
    parser.add_argument("--earlier", type=pathlib.Path, help="a folder with another libcudnn.so.9")
    parser.add_argument("--dry", action="store_true", help="writes nothing")
    options = parser.parse_args()
    commit, load = about.checked_out(), os.getloadavg()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "convolutions"
        run([options.build / "bin/wpcc", "-O2", HERE / "convolutions.cu", "-lcudnn", "-lm", "-o", program])
        for name, case in CASES.items():
            if options.only and options.only not in name:
                continue
            engines = {"ours": lambda case=case: of_warpage(program, options.rounds, case), "jax": lambda case=case: of_jax(options.rounds, case)}
            if options.earlier:
                engines["earlier"] = lambda case=case: of_warpage(program, 2, case, LD_LIBRARY_PATH=str(options.earlier))
            best = {}
            for _ in range(options.turns):
                for engine, measure in engines.items():
                    new = measure()
                    old = best.get(engine, new)
                    best[engine] = [tuple(map(min, a, b)) for a, b in zip(old, new)]
            for way in range(3):
                ours, jax = best["ours"][way], best["jax"][way]
                row = [name, WAYS[way], f"{ours[0] * 1e3:.1f} ms", f"{jax[0] * 1e3:.1f} ms", f"{ours[1] * 1e3:.1f} ms",
                       f"{jax[1] * 1e3:.1f} ms", f"{ours[1] / jax[1]:.2f}"]
                if options.earlier:
                    row += [f"{best['earlier'][way][1] * 1e3:.0f} ms", f"{best['earlier'][way][1] / ours[1]:.1f}"]
                rows.append(row)
                print(*row, sep=" | ", flush=True)
    head = ["layer, 8 images", "call", "wall", "JAX, wall", "processor", "JAX, processor", "ratio of processor times"]
    head += ["earlier, processor", "earlier over now"] if options.earlier else []
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "---:|" * (len(head) - 2)] + ["| " + " | ".join(row) + " |" for row in rows]
    if options.dry:
        return
    machine, date = about.machine(), datetime.date.today().isoformat()
    version = run([sys.executable, "-c", "import jax; print(jax.__version__)"], env=dict(os.environ, JAX_PLATFORMS="cpu")).strip()
    (about.ROOT / f"bench/results/{date}-cudnn.md").write_text(
        "# cuDNN's convolutions on the CPU device beside JAX\n\n"
        f"{date}, commit {commit}; {machine['cpu']}, {machine['processors']} processors, load average {load[0]:.0f} at the start; JAX {version}.\n"
        f"`python3 bench/cudnn/run.py --rounds {options.rounds} --turns {options.turns}`: float, NCHW; the shortest of "
        f"{options.rounds * options.turns} calls. Processor times are of all threads.\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


main()

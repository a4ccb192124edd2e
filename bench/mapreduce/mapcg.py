#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Word Count, Patent Citation and Geo Location beside MapCG, a MapReduce library for GPUs, on a simulated GPU.

    python3 bench/mapreduce/mapcg.py FOLDER [--size 419430B] [--device sim:gtx780ti] [--dry]

FOLDER has the programs that bench/peers/mapcg.sh builds. Both sides read the same generated input, all of which fits the
device, and find the same numbers of keys and values. Times are simulated, of the whole program: copies, table, result. Of
ours the best of blocks of 64 and 256 threads, of MapCG the best of its own 3,079 buckets and of as many as ours; its
128 blocks of 128 threads are as its authors set them. The thesis' table combines under a lock. Table 6.2 of Mokhtari's thesis has the ratios on a GTX 780 Ti;
`warpage reproduce bigdata-thesis-mokhtari17/table6.2` takes MapCG's times from here.
Writes bench/results/<date>-mapcg.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

BUCKETS = 32768
WORDS = r"^words +([\d,]+), ([\d,]+) different"
PROGRAMS = {  # title: (our program, its options, MapCG's, a line that states keys and values, the thesis' ratio)
    "Word Count, counts under a lock": ("stream-wordcount", ["--combine", "lock"], "words", WORDS, 1.05),
    "Word Count, counts by atomics": ("stream-wordcount", [], "words", WORDS, ""),
    "Patent Citation": ("patent-citation", [], "patents", r"^cited +([\d,]+) patents, ([\d,]+) times", 2.42),
    "Geo Location": ("geo-location", [], "places", r"^located +([\d,]+) articles at ([\d,]+) places", 2.55),
}


def execute(options, folder, command):
    """(standard output, simulated ns)"""
    report = folder / "report.json"
    done = subprocess.run([options.build / "bin/warpage", "run", "--device", options.device, "--report", report, "--", *command],
                          capture_output=True, text=True, check=False, env={**os.environ, "WARPAGE_PROGRESS": "0"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-800:]}")
    return done.stdout, json.loads(report.read_text())["simulated_time_ns"]


def numbers(pattern, text):
    return sorted(int(n.replace(",", "")) for n in re.search(pattern, text, re.M).groups())


def measure(options, folder, title):
    program, more, peer, pattern, _ = PROGRAMS[title]
    ours = [options.build / "apps" / program, "--seed", "1", "--size", options.size]
    text = folder / "input"
    subprocess.run([*ours, "--write", text], check=True)
    results = {"ours": {}, "MapCG": {}}
    counts = set()
    for threads in (64, 256):
        said, results["ours"][threads] = execute(options, folder, [*ours, *more, "--table", "sepo", "--heap", "6MiB",
                                                                   "--buckets", str(BUCKETS), "--block-threads",
                                                                   str(threads)])
        counts.add(tuple(numbers(pattern, said)))
    for buckets in (3079, BUCKETS):
        said, results["MapCG"][buckets] = execute(options, folder, [options.folder.resolve() / peer, "-f", text,
                                                                    "-num_hash_buckets", str(buckets)])
        counts.add(tuple(numbers(r"^(\d+) keys, (\d+) values", said)))
    if len(counts) != 1:
        sys.exit(f"{title}: keys and values differ: {counts}")
    return results, counts.pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of the programs that bench/peers/mapcg.sh built")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--size", default="419430B", help="of the input (default: 0.2 GB of the thesis, divided by 512)")
    parser.add_argument("--device", default="sim:gtx780ti")
    parser.add_argument("--dry", action="store_true", help="print the table only")
    options = parser.parse_args()
    lines = ["| program | keys | values | ours, 64 threads | 256 threads | MapCG, 3,079 buckets | 32,768 | best over best | thesis |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for title, (*_, published) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            results, (keys, values) = measure(options, pathlib.Path(folder), title)
        times = [*results["ours"].values(), *results["MapCG"].values()]
        ratio = min(results["MapCG"].values()) / min(results["ours"].values())
        lines.append(f"| {title} | {keys:,} | {values:,} | " + " | ".join(f"{t:,} ns" for t in times) +
                     f" | {ratio:.2f} | {published} |")
        print(lines[-1], flush=True)
    table = "\n".join(lines)
    if options.dry:
        return
    page = ROOT / "bench/results" / f"{datetime.date.today()}-mapcg.md"
    page.write_text(f"""# MapReduce beside MapCG, on a simulated GTX 780 Ti

{datetime.date.today()}, `python3 bench/mapreduce/mapcg.py FOLDER --size {options.size} --device {options.device}`, commit {about.checked_out()}. MapCG (sources of 2016) is built by `bench/peers/mapcg.sh FOLDER`.
Simulated time of whole programs, which is the same on every machine.

{table}
""")
    print(f"wrote {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

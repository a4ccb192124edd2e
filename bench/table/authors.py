#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Page View Count of the thesis' authors (BRB_HashTable) beside the hash table: same input, same heap.

    python3 bench/table/authors.py [--build build/release] [--source URL] [--rounds 3] [--only cpu] [--dry]

Clones the authors' repository into a temporary folder (its licence: all rights reserved; nothing of it is copied into this tree),
compiles PVC with wpcc, and runs it and bench/table/text.cu on files of URLs in lines of 64 bytes. PVC's sizes are constants of its
source: a heap of 500 MB in 2,000 pages, 10 million buckets, six passes. The case `full` is the program as it is. For the
others heap, pages and buckets are divided by the case's scale, by sed in the clone. On the CPU device a number is the best of the
rounds, and the processor time of the process, because other work may keep the processors busy; on a simulated GPU one run, in
simulated time. Writes bench/results/<date>-table-authors.json.gz and .md.
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
SOURCE = "https://github.com/rezafmk/BRB_HashTable"
HEAP, PAGE, BUCKETS = 500 << 20, 1 << 18, 10**7
# name, device, scale, lines, different URLs. On a GPU PVC ends only if each of its 8,192 threads has lines: others leave the loop
# whose barrier counts them.
CASES = [("full", "cpu", 1, 500_000, 20_000),
         ("one pass", "cpu", 64, 500_000, 50_000),
         ("three passes", "cpu", 64, 600_000, 300_000),
         ("ten passes", "cpu", 64, 2_000_000, 1_000_000),
         ("one pass", "sim:gtx780ti", 512, 65_536, 8_000),
         ("three passes", "sim:gtx780ti", 512, 81_920, 40_000),
         ("ten passes", "sim:gtx780ti", 512, 204_800, 125_000)]


def write_lines(path, lines, keys):
    """Every URL at least once, then random ones, in random order. Returns how many differ."""
    source = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = list({"".join(source.choices(letters, k=source.randrange(12, 44))) for _ in range(keys)})
    chosen = sorted(names) + source.choices(sorted(names), k=lines - len(names))
    source.shuffle(chosen)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"http://www.{name}.com".ljust(63) + "\n" for name in chosen)
    return len(names)


def build_theirs(options, folder, clone, scale):
    copy = folder / f"pvc-{scale}"
    subprocess.run(["cp", "-r", clone / "PVC", copy], check=True)
    if scale != 1:
        subprocess.run(["sed", "-i", f"s/PAGE_SIZE (1 << 18)/PAGE_SIZE {PAGE // scale}/; s/NUM_BUCKETS {BUCKETS}/"
                        f"NUM_BUCKETS {BUCKETS // scale}/", copy / "hashGlobal.h"], check=True)
        subprocess.run(["sed", "-i", f"s/(500 \\* (1 << 20))/{HEAP // PAGE * (PAGE // scale)}/", copy / "hashtable.cu"], check=True)
    # -maxrregcount is in the authors' makefile
    subprocess.run([options.build / "bin/wpcc", "-O3", "-w", "-maxrregcount=32", "-rdc=true", "main.cu", "paging.cu", "hashtable.cu",
                    "-o", folder / f"theirs-{scale}"], cwd=copy, check=True)


def run(options, folder, device, command, rounds):
    """Best of the rounds: what it printed, its exit status, processor seconds, and the run's report."""
    best = None
    for _ in range(rounds):
        report = folder / "report.json"
        environment = dict(os.environ, WARPAGE_WORKERS="2")
        before = os.times()
        result = subprocess.run([options.build / "bin/warpage", "run", "--device", device, "--report", report, "--", *map(str, command)],
                                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                check=False, timeout=options.limit)
        after = os.times()
        processor = after.children_user + after.children_system - before.children_user - before.children_system
        record = json.loads(report.read_text())
        if best is None or processor < best[2]:
            best = (result.stdout + result.stderr, result.returncode, processor, record)
    return best


def link(record):
    """Bytes of copies to the device and to the host, kernel and copy ns; simulated ns of the run or None."""
    copies = {copy["kind"]: copy for copy in record["copies"]}
    bytes_of = lambda kind: copies.get(kind, {}).get("bytes", 0)
    return bytes_of("h2d"), bytes_of("d2h"), record.get("simulated_time_ns")


def theirs(options, folder, case, path):
    _, device, scale, lines, _ = case
    text, status, processor, record = run(options, folder, device, [folder / f"theirs-{scale}", path], options.rounds if device == "cpu" else 1)
    done = sum(int(number) for number in re.findall(r"Total success: (\d+)", text))
    is_aborted = "Aborting" in text
    if not is_aborted and (status != 0 or done != lines):
        sys.exit(f"theirs: exit status {status}, {done} lines of {lines}\n{text[-2000:]}")
    to_device, to_host, simulated = link(record)
    return {"passes": text.count("starting pass"), "lines": done, "is_aborted": is_aborted, "processor_s": processor,
            "to_device_bytes": to_device, "to_host_bytes": to_host, "simulated_ns": simulated}


def ours(options, folder, case, path, keys):
    _, device, scale, lines, _ = case
    text, status, processor, record = run(options, folder, device,
                                          [folder / "text", path, BUCKETS // scale, HEAP // PAGE * (PAGE // scale), 0, "padded"],
                                          options.rounds if device == "cpu" else 1)
    numbers = re.search(r"^(\d+) (\d+) (\d+) (\d+) \d+$", text, re.MULTILINE)
    if status != 0 or numbers is None or [int(numbers[2]), int(numbers[3])] != [keys, lines]:
        sys.exit(f"ours: exit status {status}\n{text[-2000:]}")
    to_device, to_host, simulated = link(record)
    return {"passes": int(numbers[4]), "lines": lines, "is_aborted": False, "processor_s": processor,
            "to_device_bytes": to_device, "to_host_bytes": to_host, "simulated_ns": simulated}


def mb(value):
    return f"{value / 1e6:,.1f}"


def page(report):
    lines = ["# The authors' Page View Count beside the hash table", "",
             f"{report['date']}, commit {report['commit']}. `{report['command']}`", "",
             f"[BRB_HashTable]({SOURCE}) (commit {report['authors_commit'][:12]}), compiled by `wpcc` with the `-maxrregcount=32` of its",
             "makefile, and `bench/table/text.cu`: the same lines of 64 bytes, the same heap, nearly as many buckets. Scale divides the sizes",
             "of the authors' heap (500 MB), pages and buckets.", "",
             "| device | case | scale | lines | URLs | program | passes | time, s | M lines/s | to the device, MB | to the host, MB |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in report["results"]:
        for name in ("theirs", "ours"):
            r = row[name]
            time_s = r["simulated_ns"] / 1e9 if row["device"] != "cpu" else r["processor_s"]
            rate = f"{r['lines'] / time_s / 1e6:.2f}"
            lines.append(f"| {row['device']} | {row['case']} | 1/{row['scale']} | {row['lines']:,} | {row['keys']:,} | {name} | "
                         f"{r['passes']}{', then it aborts: ' + format(r['lines'], ',') + ' lines done' if r['is_aborted'] else ''} | "
                         f"{time_s:.4g} | {rate} | {mb(r['to_device_bytes'])} | {mb(r['to_host_bytes'])} |")
    lines += ["", "Times are of the whole program: on `cpu` its processor time, the best of "
              f"{report['settings']['rounds']} rounds (load average before: {report['machine']['load_average_before'][0]:.1f});", "on the simulated GPU, simulated time, of one run."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree")
    parser.add_argument("--source", default=SOURCE, help=f"repository to clone (default: {SOURCE})")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program on the CPU device (default: 3)")
    parser.add_argument("--only", help="only cases on this device")
    parser.add_argument("--case", help="only cases of this name")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a run (default: 900)")
    parser.add_argument("--dry", action="store_true", help="print the page, write nothing")
    options = parser.parse_args()
    options.build = options.build.resolve()
    before = os.getloadavg()
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["git", "clone", "-q", options.source, folder / "clone"], check=True)
        commit = subprocess.run(["git", "-C", folder / "clone", "rev-parse", "HEAD"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        subprocess.run([options.build / "bin/wpcc", "-O3", ROOT / "bench/table/text.cu", "-o", folder / "text"], check=True)
        cases = [case for case in CASES if options.only in (None, case[1]) and options.case in (None, case[0])]
        for scale in {case[2] for case in cases}:
            build_theirs(options, folder, folder / "clone", scale)
        for case in cases:
            keys = write_lines(folder / "lines", case[3], case[4])
            row = {"case": case[0], "device": case[1], "scale": case[2], "lines": case[3], "keys": keys}
            row["theirs"] = theirs(options, folder, case, folder / "lines")
            row["ours"] = ours(options, folder, case, folder / "lines", keys)
            results.append(row)
            print(row, flush=True)
    report = {"date": datetime.date.today().isoformat(), "commit": about.checked_out(), "authors_commit": commit,
              "command": "python3 " + shlex.join(["bench/table/authors.py", *[a for a in sys.argv[1:] if "/" not in a and a != "--source"]]),
              "machine": {**about.machine(), "load_average_before": before, "load_average_after": os.getloadavg()},
              "settings": {"rounds": options.rounds}, "results": results}
    print(page(report))
    if not options.dry:
        base = ROOT / "bench/results" / f"{report['date']}-table-authors"
        about.write_raw(base, report)
        base.with_suffix(".md").write_text(page(report))


if __name__ == "__main__":
    main()

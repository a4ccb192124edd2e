#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The seven programs with a table, on a simulated GPU: how long the simulation takes for a given input.

    python3 bench/mapreduce/simulated.py [--size 64MiB] [--device sim:gtx780ti] [--data FOLDER] [--only PROGRAM...] [--dry]

Each program runs once with `--table sepo` and memory for its whole table, on its input enlarged or generated to --size.
FOLDER has the real inputs by the names below; without one a program generates its input. The results of the programs are
checked on smaller inputs by tests/e2e/apps_heaps.sh, here only the time is taken: processor seconds (user and system) of
the whole process, as the machine may have other work, with the one run before that compiles its variant left out.
Writes bench/results/<date>-mapreduce-simulated.md.
"""
import argparse
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

PROGRAMS = {  # name: (program, input, further arguments)
    "Page View Count": ("pvc", "weblog_nasa.tsv.zst", []),
    "Inverted Index": ("inverted-index", "html_python.tar.zst", []),
    "DNA Assembly": ("stream-dna", "ecoli_k12.fa.zst", []),
    "Netflix": ("stream-netflix", "ratings_movietweetings.dat.zst", []),
    "Word Count": ("stream-wordcount", "novels.tar.zst", []),
    "Geo Location": ("geo-location", "wikigeo.tsv.zst", []),
    "Patent Citation": ("patent-citation", "cit_hepph.txt.zst", []),
}
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}
AIM_S = 600


def bytes_of(text):
    number, unit = re.fullmatch(r"([\d.]+)(K|M|G)iB", text).groups()
    return float(number) * {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[unit]


def execute(command, environment):
    """(standard output and error, processor seconds, wall seconds)"""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    text = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}\n{text[-800:]}")
    return text, usage.ru_utime + usage.ru_stime, time.perf_counter() - start


def simulated_ms(text):
    """Copies and kernels, which the program's report sums up."""
    found = re.search(r"copies, kernels +([\d.,]+) (ns|us|ms|s)\b", text)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--size", default="64MiB", help="of the input, with KiB, MiB or GiB (default 64MiB)")
    parser.add_argument("--device", default="sim:gtx780ti")
    parser.add_argument("--data", type=pathlib.Path, help="folder of the real inputs")
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--dry", action="store_true", help="print the table only")
    options = parser.parse_args()
    size_bytes = bytes_of(options.size)
    rows = []
    for title in options.only:
        program, name, more = PROGRAMS[title]
        command = [options.build / "bin/warpage", "run", "--device", options.device, options.build / "apps" / program, *more,
                   "--table", "sepo"]
        source = "generated"
        if options.data and (options.data / name).exists():
            command += ["--input", options.data / name]
            source = name.split(".")[0]
            if program == "geo-location" and (options.data / "cities5000.txt.zst").exists():
                command += ["--places", options.data / "cities5000.txt.zst"]
        environment = {"WARPAGE_PROGRESS": "0"}
        execute([*command, "--size", "64KiB"], environment)
        text, processor_s, wall_s = execute([*command, "--size", options.size], environment)
        rows.append((title, source, processor_s, wall_s, size_bytes / processor_s, simulated_ms(text)))
        print(f"{title}: {processor_s:.0f} s of processor time, {wall_s:.0f} s by the clock", flush=True)
    lines = ["| program | input | processor time | input a second | simulated time | aim: under 600 s |",
             "|---|---|---:|---:|---:|---|"]
    for title, source, processor_s, _, rate, simulated in rows:
        shown = "" if simulated is None else f"{simulated:.1f} ms"
        lines.append(f"| {title} | {source} | {processor_s:.0f} s | {rate / 1024:.0f} KiB | {shown} |"
                     f" {'met' if processor_s < AIM_S else 'missed'} |")
    table = "\n".join(lines)
    print(table)
    if options.dry:
        return
    machine = about.machine()
    page = ROOT / "bench/results" / f"{datetime.date.today()}-mapreduce-simulated.md"
    page.write_text(f"""# Programs with a table on a simulated GPU: time of the simulation

{datetime.date.today()}, `python3 bench/mapreduce/simulated.py --size {options.size} --device {options.device}`, commit {about.checked_out()}, {machine['cpu']}, {machine['processors']} processors.
Inputs are enlarged to {options.size}; the heap has room for the table, so that all take one pass.

{table}
""")
    print(f"wrote {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streaming beside its peers: the kernels of seven programs over more data than the device memory they may use, each way
to feed them in the same run.

    python3 bench/stream/streaming.py [--build build/release] [--only PROGRAM...] [--resume LOG] [--keep RECORD COLUMN...]
                                      [--quick] [--dry]
    python3 bench/stream/streaming.py --page indices [--shape 128x128]

On simulated GPUs a variant's time is the simulated one between two events; it is the best of the same search over blocks
and threads for each variant, but for slower ones of fewer shapes. `zerocopy-merged` is zero-copy with a thread for each record, so that the threads of a warp
read neighbouring records, as grid-stride loops do; text has no records. Data of managed memory are 125 % of device
memory. On cpu it is wall time, the median of rounds in which every variant has its turn; there is no link, so ratios are
told and not aimed at. The first run of each program and variant is compared with a serial computation. Inputs are
generated, with seed 1. `--keep`: columns of an earlier record (cpu: all of that device; PROGRAM/COLUMN: of one program) are
taken from it, and the page says so. `--quick`: a fraction of the data, one shape of 2,048 threads, no paging. Writes
bench/results/<date>-streaming.json.gz and .md; with `--page indices` another page, of simulated GPUs only: an index that is in
device memory or streamed.
"""
import argparse
import datetime
import gzip
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import about  # noqa: E402

ROOT = about.ROOT
SHAPES = [(32, 256), (128, 128), (288, 128), (96, 128), (384, 128)]
QUICK_SHAPES = [(16, 128)]
MERGED_THREADS = 256
# Program, arguments, records or bytes of text, KiB of buffers, share that is read (None: all of a text).
PROGRAMS = {
    "K-means": (["stream-kmeans"], 1 << 20, 4096, 0.5),
    "Word Count": (["stream-wordcount", "--keys", "128K"], 8 << 20, 2048, None),
    "Netflix": (["stream-netflix"], 1 << 20, 2048, 0.3),
    "Opinion Finder": (["stream-opinion"], 128 << 10, 4096, 0.73),
    "DNA Assembly": (["stream-dna"], 512 << 10, 2048, 0.36),
    "MasterCard Affinity": (["stream-affinity"], 128 << 10, 2048, None),
    "MasterCard, indexed": (["stream-affinity", "--indexed"], 512 << 10, 2048, 0.25),
}
QUICK_RECORDS = {"K-means": 128 << 10, "Word Count": 256 << 10, "Netflix": 128 << 10, "Opinion Finder": 8 << 10, "DNA Assembly": 16 << 10,
                 "MasterCard Affinity": 8 << 10, "MasterCard, indexed": 24 << 10}
OURS = ("full", "auto")
LOCKED = ("direct", "zerocopy", "zerocopy-merged")  # page-lock the data as a whole
SEARCHED = ("full", "double-4")  # with all shapes; auto with that of full; other ways, which are slower, with two
PEERS = ["double", "double-4", "direct", "zerocopy", "zerocopy-merged"]
DEVICES = {  # Kepler does not page.
    "sim:gtx680@xeon-e5-quad": ["full", "auto", *PEERS],
    "sim:gtx1080ti@xeon-e5-quad": ["full", "auto", *PEERS, "managed", "prefetch"],
}
ON_CPU = ["serial", "threads", "double", "direct", "full"]
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
INTRODUCTION = """One kernel of each program over data that exceed the device memory it may use. Simulated GPUs: simulated time; host work by
the model of the host. `double` and `double-4`: double buffering through page-locked buffers, which one thread of the host fills, and
four. `direct`: double buffering from records that are page-locked as a whole. `zerocopy-merged`: a thread a
record, so that warps read neighbours. `auto`: what it chose, where its `double` has four threads, too; of affinity's two passes, the first's choice. Beside it: its time over
the best other way that does not page-lock the records as a whole, as `direct` and `zerocopy` do. CPU threads over
`full`: time of this machine's clock over simulated time (thesis: 3.0 on average, up to 7.2, with eight hardware threads).
"""
SEARCH_NOTE = """Each way has the best of the same search over blocks and threads: 32 of 256, 128 of 128; `full` and `double-4` also 96, 288 and 384 of 128; `auto` the
best of `full`.
Managed data are 125 % of device memory.
"""
QUICK_NOTE = """Each way has 16 blocks of 128 threads. The data are 0.3 to 8 MiB, so fixed times weigh: a streamed launch needs about 0.2 ms until
its first results, and a thread has few chunks. `auto` measures only where the data are 48 times the buffers; else it goes by
whether the kernel has windows, and how much it reads.
"""
TITLES = {None: "Streaming beside its peers", "indices": "Streaming an index beside the data"}
INDEXED = "MasterCard, indexed"
# Where the index of the indexed program is: options.
INDICES = {"full": ["--addresses"], "full-followed": ["--map-index", "--addresses"], "full-windows": ["--map-index", "--windows"]}
INDICES_NOTE = """The indexed program, whose two kernels read 24 bytes of each line, from a place that an index has, 8 bytes a line. Simulated
time; 128 K lines, 512 KiB of buffers. The index is in device memory; or mapped, as the text is: the host follows it for address threads (`--addresses`), or the kernels have
windows, as by default, since they read single bytes, and where the host cannot follow an index.
"""
INDICES_RECORDS, INDICES_KIB = 128 << 10, 512
AIM = 1.1  # full over the best of the others, at most


def shapes_of(options, variant, records, of_full):
    if variant == "auto" and of_full:
        return [of_full]
    if variant == "zerocopy-merged":
        return [((records + MERGED_THREADS - 1) // MERGED_THREADS, MERGED_THREADS)]
    if options.shape:
        return [tuple(int(number) for number in options.shape.split("x"))]
    return QUICK_SHAPES if options.quick else SHAPES if variant in SEARCHED else SHAPES[:2]


def records_of(options, name):
    return QUICK_RECORDS[name] if options.quick else PROGRAMS[name][1]


def run(options, name, device, variant, shape, is_checked):
    """ns between the events, or of the clock; what auto chose."""
    program, _, buffer_kib, _ = PROGRAMS[name]
    size, buffer_kib = records_of(options, name), 256 if options.quick else buffer_kib
    if options.page == "indices":
        size, buffer_kib = INDICES_RECORDS, INDICES_KIB
    app = [options.build / "apps" / program[0], *program[1:], "--size", str(size), "--seed", "1", "--buffer", f"{buffer_kib}KiB",
           "--blocks", str(shape[0]), "--threads", str(shape[1]), "--variant", variant.split("-")[0]]
    app += INDICES.get(variant, []) if options.page == "indices" else []
    app += ["--check"] if is_checked else []
    app += ["--explain"] if variant == "auto" else []
    app += ["--stagers", "4"] if variant == "double-4" else []
    command = app
    if variant in ("managed", "prefetch"):
        command = [options.build / "bin/warpage", "run", "--device", device, "--oversubscribe", "125%", "--", *app]
    result = subprocess.run(command, env=dict(os.environ, WARPAGE_DEVICE=device), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False)
    if result.returncode != 0 or (is_checked and "equal" not in result.stdout):
        sys.exit(f"{name}, {device}, {variant}: exit status {result.returncode}\n{result.stdout[-300:]}{result.stderr[-500:]}")
    times = {what: float(number) * UNITS[unit]
             for what, number, unit in re.findall(r"^(device|wall) +([0-9.]+) (\w+)$", result.stderr, re.M)}
    chosen = re.search(r"^chosen +(\w+)", result.stderr, re.M)
    return times, chosen.group(1) if chosen else ""


def simulate(options, name, device, variants):
    rows = {}
    for variant in variants:
        if variant == "zerocopy-merged" and PROGRAMS[name][3] is None:
            continue
        if options.quick and variant in ("managed", "prefetch"):
            continue  # such data are about a chunk of managed memory
        if (name, device, variant) in options.known:
            rows[variant] = options.known[name, device, variant]
            continue
        tries = [(*run(options, name, device, variant, shape, i == 0), shape)
                 for i, shape in enumerate(shapes_of(options, variant, records_of(options, name), rows.get("full", {}).get("shape")))]
        times, chosen, shape = min(tries, key=lambda one: one[0]["device"])
        rows[variant] = {"ns": times["device"], "shape": shape, "chosen": chosen}
        print(f"{name}, {device}, {variant}: {times['device'] / 1e6:.3f} ms with {shape[0]} blocks of {shape[1]} {chosen}", flush=True)
    return rows


def indices_of(devices):
    lines = ["", "| GPU | index in device memory | mapped, followed | mapped, windows | windows over followed |", "|---|---|---|---|---|"]
    for device, rows in devices.items():
        ms = [rows[v]["ns"] / 1e6 for v in INDICES]
        lines.append(f"| {device} | {ms[0]:.2f} ms | {ms[1]:.2f} ms | {ms[2]:.2f} ms | {ms[2] / ms[1]:.2f} |")
    return "\n".join(lines) + "\n"


def known_from(path):
    """Simulated rows that an earlier run printed before it was interrupted."""
    pattern = re.compile(r"^(.+), (sim:\S+), (\S+): ([0-9.]+) ms with (\d+) blocks of (\d+) ?(\w*)$", re.M)
    text = pathlib.Path(path).read_text(encoding="utf-8") if path else ""
    return {(name, device, variant): {"ns": float(ms) * 1e6, "shape": (int(blocks), int(threads)), "chosen": chosen}
            for name, device, variant, ms, blocks, threads, chosen in pattern.findall(text)}


def keep_rows(options):
    """Adds what the record has of the columns, and --resume has not, to what is known; its rows of cpu, if these are kept; a sentence."""
    if not options.keep:
        return {}, ""
    path, *columns = options.keep
    record = json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))
    on_cpus, cases = {}, {}
    for row in record["results"]:
        kept = {"ns": row["median_ns"], "times_ns": row["times_ns"], "shape": (0, 0), "chosen": row["chosen"]}
        if row["size"] == "cpu":
            on_cpus.setdefault(row["case"], {})[row["engine"]] = kept
        elif {row["engine"], f"{row['case']}/{row['engine']}"} & set(columns) and (row["case"], row["size"], row["engine"]) not in options.known:
            options.known[row["case"], row["size"], row["engine"]] = kept
            cases.setdefault(row["engine"], {})[row["case"]] = True
    kept = dict.fromkeys(c.rpartition("/")[2] for c in columns)
    names = "; ".join(f"`{c}`" + (f" of {', '.join(cases[c])}" if c in cases and len(cases[c]) < len(PROGRAMS) else "") for c in kept)
    page = pathlib.Path(path).name.replace(".json.gz", ".md")
    sentence = f"From [the run of {record['date']}]({page}), commit {record['commit']}, with its shapes: {names}.\n"
    older = [line for line in (pathlib.Path(path).parent / page).read_text(encoding="utf-8").splitlines(True) if "the run of" in line]
    sentence += "".join(line.replace("From [", "There from [", 1) for line in older)
    return on_cpus if "cpu" in columns else {}, sentence


def on_cpu(options, name):
    times = {variant: [] for variant in ON_CPU}
    for turn in range(options.rounds + 1):  # the first one compiles, and is not counted
        for variant in ON_CPU:
            found, _ = run(options, name, "cpu", variant, (64, 128), turn == 0)
            if turn > 0:
                times[variant].append(found["wall"])
    return {v: {"ns": statistics.median(t), "times_ns": t, "shape": (64, 128), "chosen": ""} for v, t in times.items()}


def best_peer(rows):
    """The fastest of the ways that are not ours."""
    others = {v: row["ns"] for v, row in rows.items() if v not in (*OURS, "serial", "threads")}
    return min(others.items(), key=lambda item: item[1])


def page_of(results):
    lines = []
    for device in results[next(iter(results))]:
        is_simulated = device != "cpu"
        has_cpu = is_simulated and "cpu" in results[next(iter(results))]
        variants = [v for v in (DEVICES[device] if is_simulated else ON_CPU)
                    if any(v in devices[device] for devices in results.values())]
        lines += [f"\n## {device}\n", "Times in ms; in brackets, over `full`.\n" if is_simulated else "Wall time in ms.\n",
                  "| program | read | " + " | ".join(f"`{v}`" for v in variants) + " | full over the best peer |" +
                  (" `auto` over the best |" if is_simulated else "") + (" CPU threads over full |" if has_cpu else ""),
                  "|---|---|" + "---|" * (len(variants) + 1 + is_simulated + has_cpu)]
        for name, devices in results.items():
            rows, read = devices[device], PROGRAMS[name][3]
            full = rows["full"]["ns"]
            cells = []
            for v in variants:
                chosen = f", {rows[v]['chosen']}" if v in rows and rows[v]["chosen"] else ""
                cells.append("–" if v not in rows else f"{rows[v]['ns'] / 1e6:.2f} ({rows[v]['ns'] / full:.2f}{chosen})")
            peer, ns = best_peer(rows)
            lines.append(f"| {name} | {'all' if read is None else f'{read:.0%}'} | " + " | ".join(cells) +
                         f" | {full / ns:.2f} of `{peer}` |" +
                         (" {1:.2f} of `{0}` |".format(*auto_over_best(rows)) if is_simulated else "") +
                         (f" {devices['cpu']['threads']['ns'] / full:.1f} |" if has_cpu else ""))
    return "\n".join(lines) + "\n"


def auto_over_best(rows):
    """auto over the fastest of the other ways that it may choose."""
    best, ns = min(((v, row["ns"]) for v, row in rows.items() if v != "auto" and v not in LOCKED), key=lambda item: item[1])
    return best, rows["auto"]["ns"] / ns


def comparisons_of(results):
    found = [{"case": name, "size": device, "engine": "auto", "against": best, "ratio": ratio, "aim": AIM, "is_met": ratio <= AIM}
             for name, devices in results.items() for device, rows in devices.items() if "auto" in rows
             for best, ratio in [auto_over_best(rows)]]
    for name, devices in results.items():
        for device, rows in devices.items():
            for variant, row in rows.items() if "auto" in rows else []:
                if variant in OURS:
                    continue
                ratio = rows["full"]["ns"] / row["ns"]
                read = PROGRAMS[name][3]
                aim = None if device == "cpu" else 1.0 if read is not None and read < 0.5 else AIM
                found.append({"case": name, "size": device, "engine": "full", "against": variant, "ratio": ratio, "aim": aim,
                              "is_met": None if aim is None else ratio <= aim})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS), metavar="PROGRAM", help="some of " + ", ".join(PROGRAMS))
    parser.add_argument("--resume", metavar="LOG", help="what an interrupted run of the same commit printed: its simulated rows are not run again")
    parser.add_argument("--keep", nargs="+", metavar=("RECORD", "COLUMN"), help="a .json.gz file, and columns that are not run again")
    parser.add_argument("--page", choices=["indices"], help="another page, of simulated GPUs only")
    parser.add_argument("--shape", metavar="BLOCKSxTHREADS", help="this shape in place of the search")
    parser.add_argument("--quick", action="store_true", help="a fraction of the data, one shape, no paging")
    parser.add_argument("--rounds", type=int, default=3, help="on cpu")
    parser.add_argument("--dry", action="store_true", help="writes nothing")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.known = known_from(options.resume)
    kept_on_cpu, kept_sentence = keep_rows(options)
    commit, before = about.checked_out(), os.getloadavg()
    if options.page == "indices":
        results = {INDEXED: {device: simulate(options, INDEXED, device, list(INDICES)) for device in DEVICES}}
        text = indices_of(results[INDEXED])
    else:
        results = {name: {} for name in options.only or PROGRAMS}
        for name, devices in results.items():
            devices.update((device, simulate(options, name, device, variants)) for device, variants in DEVICES.items())
        for name, devices in results.items():
            devices["cpu"] = kept_on_cpu.get(name) or on_cpu(options, name)
        text = page_of(results)
    print(text)
    if options.dry:
        return
    date = datetime.date.today().isoformat()
    command = shlex.join(["python3", "bench/stream/streaming.py", *(["--page", options.page] if options.page else []),
                          *(["--only", *options.only] if options.only else []), *(["--shape", options.shape] if options.shape else []),
                          *(["--keep", *options.keep] if options.keep else []), *(["--quick"] if options.quick else [])])
    record = {"schema": "warpage-bench-1", "bench": "streaming", "date": date, "commit": commit, "command": command,
              "machine": {**about.machine(), "load_average_before": before, "load_average_after": os.getloadavg()},
              "settings": {"programs": PROGRAMS, "shapes": SHAPES, "rounds_on_cpu": options.rounds, "quick": options.quick},
              "results": [{"case": name, "size": device, "engine": variant, "median_ns": row["ns"], "chosen": row["chosen"],
                           "times_ns": row.get("times_ns", [row["ns"]])}
                          for name, devices in results.items() for device, rows in devices.items() for variant, row in rows.items()],
              "comparisons": comparisons_of(results)}
    stem = ROOT / f"bench/results/{date}-streaming{'-' + options.page if options.page else ''}"
    about.write_raw(stem, record)
    stem.with_suffix(".md").write_text(
        f"# {TITLES[options.page]}\n\n{date}, commit {commit}. `{command}`\n\n" + {"indices": INDICES_NOTE}.get(options.page, INTRODUCTION)
        + (QUICK_NOTE if options.quick else f"All launches have the shape {options.shape}.\n" if options.shape else SEARCH_NOTE)
        + kept_sentence + f"Load average {before[0]:.0f} at the start: it matters for cpu only.\n" + text, encoding="utf-8")


main()

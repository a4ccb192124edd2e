#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Word Count, Page View Count, Patent Citation and Geo Location beside their peers, on the processor, in one run.

    python3 bench/mapreduce/run.py --text TEXT --log LOG --citations FILE --articles FILE --places FILE
        [--phoenix PROGRAM] [--cases wordcount,pvc,patent,geo] [--name mapreduce] [--rounds 5] [--dry]

The text must be ASCII (peers treat other letters differently) and have no apostrophes (Phoenix++ takes them for letters); the log
is in Apache's combined form; citations are lines of two numbers with a tab, without comments; articles are lines of language, title, latitude and longitude
with tabs, places those of GeoNames. Engines, each with two threads:

    warpage          examples/wordcount.cu, apps/pvc --table sepo, apps/patent-citation, apps/geo-location, on the CPU
                     device; all in memory
    warpage-quarter  the same with a heap of a quarter of the table, in several passes
    threads          POSIX threads that insert into the same table (threads.c)
    phoenix          Phoenix++, built by bench/peers/phoenix.sh, with tcmalloc where it is installed
    duckdb, polars   the same query as SQL and as an expression, with a memory limit, spilling on (peer.py)
    pyspark          the first two as DataFrame jobs of Spark on local[2], whose start is apart, where pyspark and Java are

All engines must find as many keys and pairs. Seconds are of the processor (user and system), as the machine may have other work;
of warpage, threads and Phoenix++'s Word Count those of the whole process, of the others those of the query. Wall seconds are reported, too.
Writes bench/results/<date>-<name>.json.gz and .md.
"""
import argparse
import datetime
import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
CASES = {"wordcount": ["warpage", "warpage-quarter", "threads", "phoenix", "duckdb", "polars", "pyspark"],
         "pvc": ["warpage", "warpage-quarter", "duckdb", "polars", "pyspark"],
         "patent": ["warpage", "warpage-quarter", "phoenix", "duckdb", "polars"],
         "geo": ["warpage", "warpage-quarter", "phoenix", "duckdb", "polars"]}
INPUTS = {"wordcount": ["text"], "pvc": ["log"], "patent": ["citations"], "geo": ["articles", "places"]}
TITLES = {"wordcount": "Word Count", "pvc": "Page View Count", "patent": "Patent Citation", "geo": "Geo Location"}
AIMS = {("wordcount", "phoenix"): 2.0}  # our time over theirs, at most
AIM_QUARTER = 3.0  # with a quarter of the table over all in memory
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def build(options, folder):
    library = options.build / "lib"
    subprocess.run([options.build / "bin/wpcc", "-O2", ROOT / "examples/wordcount.cu", "-o", folder / "wordcount"], check=True)
    subprocess.run(["clang-19", "-std=c17", "-O3", "-march=x86-64-v3", "-I", ROOT / "include", ROOT / "bench/mapreduce/threads.c",
                    "-o", folder / "threads", "-L", library, f"-Wl,-rpath,{library}", "-lwarpage", "-lpthread"], check=True)


def execute(command, folder, environment):
    """(stdout and stderr, wall seconds, processor seconds)"""
    start = time.perf_counter()
    with open(folder / "output", "w+b") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - start
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}: exit status {process.returncode}\n{text[-800:]}")
    return text, wall_s, usage.ru_utime + usage.ru_stime


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    if not found:
        sys.exit(f"no '{pattern}' in:\n{text[-800:]}")
    return int(found[1].replace(",", ""))


def table_bytes(text):
    found = re.search(r"table of ([\d.]+) (\w+),|^  table +([\d.]+) (\w+) ", text, re.M)
    value, unit = (found[1], found[2]) if found[1] else (found[3], found[4])
    return float(value) * UNITS[unit]


def warpage(options, case, folder, heap):
    environment = {"WARPAGE_DEVICE": "cpu", "WARPAGE_WORKERS": str(options.threads), "WARPAGE_DEVICE_MEMORY": "4GiB"}
    apps = options.build / "apps"
    if case == "wordcount":
        if heap:
            environment["HEAP"] = str(heap)
        text, *times = execute([folder / "wordcount", options.text], folder, environment)
        return number(r"^(\d+) different words", text), number(r"(\d+) pairs;", text), text, *times
    sizes = ["--heap", f"{heap}B", "--page", "1KiB"] if heap else []
    if case == "patent":
        text, *times = execute([apps / "patent-citation", "--input", options.citations, *sizes], folder, environment)
        return number(r"^cited +([\d,]+) ", text), number(r"patents, ([\d,]+) times", text), text, *times
    if case == "geo":
        text, *times = execute([apps / "geo-location", "--input", options.articles, "--places", options.places, *sizes], folder,
                               environment)
        return number(r"articles at ([\d,]+) places", text), number(r"^located +([\d,]+) ", text), text, *times
    text, *times = execute([apps / "pvc", "--input", options.log, "--table", "sepo", *sizes], folder, environment)
    lines = number(r": ([\d,]+) lines", text) - number(r"URLs, ([\d,]+) lines without", text)
    return number(r"^pages +([\d,]+) ", text), lines, text, *times


def run(options, case, engine, folder, heaps):
    """(keys, pairs, wall seconds, processor seconds, passes)"""
    if engine.startswith("warpage"):
        keys, pairs, text, wall_s, processor_s = warpage(options, case, folder, heaps[case] if "quarter" in engine else 0)
        heaps.setdefault(case, max(4096, int(table_bytes(text) / 4) // 4096 * 4096))
        return keys, pairs, wall_s, processor_s, len(re.findall(r"^ +pass \d+  |^ +\d+ +\d+ +\d+ +\d+ +\d+ ", text, re.M))
    if engine == "threads":
        text, wall_s, processor_s = execute([folder / "threads", options.text], folder, {})
        return *map(int, text.split()), wall_s, processor_s, 1
    if engine == "phoenix" and case in ("patent", "geo"):
        what = ["patents", options.citations] if case == "patent" else ["articles", options.articles, options.places]
        text, *_ = execute([options.phoenix.parent / "phoenix_group", *what], folder,
                           {"MR_NUMTHREADS": str(options.threads)})
        keys, pairs, wall_s, processor_s = text.split()[-4:]
        return int(keys), int(pairs), float(wall_s), float(processor_s), 1
    if engine == "phoenix":
        text, wall_s, processor_s = execute([options.phoenix, options.text, "1"], folder, {"MR_NUMTHREADS": str(options.threads)})
        return number(r"TOP 1 of (\d+)", text), number(r"^Total: (\d+)", text), wall_s, processor_s, 1
    path = {"wordcount": options.text, "pvc": options.log, "patent": options.citations,
            "geo": options.articles}[case]
    text, *_ = execute([sys.executable, ROOT / "bench/mapreduce/peer.py", engine, case, path, str(options.threads),
                        str(options.memory_mb), folder / "spill", options.places or ""], folder, {"POLARS_MAX_THREADS": str(options.threads)})
    keys, pairs, wall_s, processor_s = text.split()[-4:]
    if engine == "pyspark":
        options.spark_start_s.append(float(re.search(r"^started ([\d.]+)$", text, re.M)[1]))
    return int(keys), int(pairs), float(wall_s), float(processor_s), 1


def measure(options, folder):
    results, heaps = {}, {}
    for turn in range(options.rounds + 1):  # the first one compiles kernels and reads files, and is not counted
        for case in options.cases:
            found = set()
            for engine in CASES[case]:
                if engine == "phoenix" and not options.phoenix or engine == "pyspark" and not options.has_spark:
                    continue
                keys, pairs, wall_s, processor_s, passes = run(options, case, engine, folder, heaps)
                found.add((keys, pairs))
                row = results.setdefault((case, engine), {"keys": keys, "pairs": pairs, "passes": passes, "wall_s": [],
                                                          "processor_s": []})
                if turn > 0:
                    row["wall_s"].append(wall_s)
                    row["processor_s"].append(processor_s)
                    row["passes"] = passes
            if len(found) != 1:
                sys.exit(f"{case}: engines differ in (keys, pairs): {found}")
        print(f"round {turn} of {options.rounds}", flush=True)
    return results, heaps


def compare(results):
    comparisons = []
    for (case, engine), row in results.items():
        ours = statistics.median(results[case, "warpage"]["processor_s"])
        theirs = statistics.median(row["processor_s"])
        if engine == "warpage-quarter":
            ratio, aim = theirs / ours, AIM_QUARTER
        else:
            ratio, aim = ours / theirs, AIMS.get((case, engine))
        if engine != "warpage":
            comparisons.append({"case": case, "against": engine, "ratio": ratio, "aim": aim,
                                "is_met": None if aim is None else ratio <= aim})
    return comparisons


def page(report):
    load = report["machine"]["load_average_before"][0], report["machine"]["load_average_after"][0]
    lines = ["# MapReduce beside its peers", "", f"{report['date']}, commit {report['commit']}. `{report['command']}`", "",
             f"{report['settings']['threads']} threads each, median of {report['settings']['rounds']} rounds on "
             f"{report['machine']['cpu']}; load average {load[0]:.1f} before and {load[1]:.1f} after. Seconds of the",
             "processor; the wall seconds have the machine's other work in them. Ratio: Warpage's processor seconds over the",
             "engine's; of `warpage-quarter`, whose heap holds a quarter of the table, its own over Warpage's with all in memory.", "",
             "Warpage's seconds are those of whole processes: `wordcount` also orders and writes its result.", ""]
    if report["settings"]["spark_start_s"]:
        lines += [f"`pyspark` is a process of its own for each run, as the others; starting Spark and a first job of one row, "
                  f"{statistics.median(report['settings']['spark_start_s']):.1f} s", "by the clock, are not in its seconds.", ""]
    for case in report["settings"]["cases"]:
        rows = {engine: row for (c, engine), row in report["results"].items() if c == case}
        first = rows["warpage"]
        lines += [f"## {TITLES[case]}", "", f"{first['pairs']:,} pairs of {first['keys']:,} keys.", "",
                  "| engine | processor, s | wall, s | passes | ratio | aim |", "|---|---|---|---|---|---|"]
        for engine, row in rows.items():
            c = next((c for c in report["comparisons"] if c["case"] == case and c["against"] == engine), None)
            aim = "" if c is None or c["aim"] is None else f"{c['aim']:.0f}: {'met' if c['is_met'] else 'missed'}"
            lines.append(f"| {engine} | {statistics.median(row['processor_s']):.2f} | {statistics.median(row['wall_s']):.2f} | "
                         f"{row['passes']} | {'' if c is None else format(c['ratio'], '.2f')} | {aim} |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree")
    for name in ("text", "log", "citations", "articles", "places"):
        parser.add_argument("--" + name, type=pathlib.Path)
    parser.add_argument("--phoenix", type=pathlib.Path, help="the program that bench/peers/phoenix.sh built")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory-mb", type=int, default=4000, help="limit of DuckDB (default: 4000)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each engine, in turn (default: 5)")
    parser.add_argument("--cases", default=",".join(CASES), help="programs, with commas (default: all)")
    parser.add_argument("--name", default="mapreduce", help="of the page (default: mapreduce)")
    parser.add_argument("--dry", action="store_true", help="print the page, write nothing")
    options = parser.parse_args()
    for name in ("build", "text", "log", "citations", "articles", "places", "phoenix"):
        path = getattr(options, name)
        setattr(options, name, path.resolve() if path else None)
    options.cases, options.spark_start_s = options.cases.split(","), []
    for case in options.cases:
        if case not in CASES:
            parser.error(f"'{case}' is none of {', '.join(CASES)}")
        for name in INPUTS[case]:
            if not getattr(options, name):
                parser.error(f"{case} needs --{name}")
    options.has_spark = bool(importlib.util.find_spec("pyspark") and (os.environ.get("JAVA_HOME") or shutil.which("java")))
    before = os.getloadavg()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(options, folder)
        results, heaps = measure(options, folder)
        shutil.rmtree(folder / "spill", ignore_errors=True)
    names = {str(value): value.name for value in (options.text, options.log, options.citations, options.articles, options.places,
                                                        options.phoenix) if value}
    command = "python3 bench/mapreduce/run.py " + shlex.join(
        names.get(str(pathlib.Path(word).resolve()), word) if not word.startswith("-") else word for word in sys.argv[1:])
    report = {"schema": "warpage-bench-1", "bench": "mapreduce", "date": datetime.date.today().isoformat(), "command": command,
              "commit": about.checked_out(),
              "machine": {**about.machine(), "load_average_before": before, "load_average_after": os.getloadavg()},
              "settings": {"threads": options.threads, "rounds": options.rounds, "memory_mb": options.memory_mb,
                           "heap_bytes_of_quarter": heaps,
                           "spark_start_s": options.spark_start_s, "cases": options.cases,
                           "input_bytes": {name: getattr(options, name).stat().st_size for case in options.cases
                                           for name in INPUTS[case] if name != "places"}},
              "results": results, "comparisons": compare(results)}
    text = page(report)
    print(text)
    if not options.dry:
        base = ROOT / "bench/results" / f"{report['date']}-{options.name}"
        report["results"] = [{"case": case, "engine": engine, **row} for (case, engine), row in results.items()]
        about.write_raw(base, report)
        base.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Word Count over a large text, compared byte for byte with a count that has nothing in common with it.

    python3 bench/mapreduce/check.py --input novels.tar.zst [--size 4GiB] [--heap 3MiB ...] [--folder FOLDER] [--dry]
    python3 bench/mapreduce/check.py --count TEXT > counts.txt

The text is the input, enlarged by `stream-wordcount --write`. examples/wordcount.cu counts its words on the CPU device, once for
each --heap, the device memory for keys and values (0: what is left of the device); the table is larger than a small heap. The
reference is the twenty lines of `count` below: Python's own split and dictionary, on the same file, in parts. Both lists are sorted
by word; every byte must be equal. The exit status is 1 if one is not.
Without --dry writes bench/results/<date>-wordcount-<size>.md. FOLDER (by default in TMPDIR) takes the text and the lists.
"""
import argparse
import collections
import datetime
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

LONGEST = 32  # bytes of a word that count, as in examples/wordcount.cu
PART_BYTES = 16 << 20
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# Letters of ASCII become small, bytes above 127 are letters, all others divide words.
LETTERS = bytes(c if c > 127 else c | 0x20 if chr(c).isalpha() else 0x20 for c in range(256))


def count(path):
    """The lines that examples/wordcount.cu writes, in their order, and the number of words."""
    counts, rest = collections.Counter(), b""
    with open(path, "rb") as text:
        while part := text.read(PART_BYTES):
            letters = rest + part.translate(LETTERS)
            words = letters.split(b" ")
            rest = words.pop()  # goes on in the next part
            counts.update(words)
    counts[rest] += 1
    del counts[b""]
    for word in [word for word in counts if len(word) > LONGEST]:
        counts[word[:LONGEST]] += counts.pop(word)
    return b"".join(b"%s\t%d\n" % (word, counts[word]) for word in sorted(counts)), counts.total()


def bytes_of(text):
    found = re.fullmatch(r"(\d+)(B|KiB|MiB|GiB)", text)
    if found is None and text != "0":
        sys.exit(f"{text}: expected bytes with B, KiB, MiB or GiB, as in 4GiB")
    return int(found[1]) * UNITS[found[2]] if found else 0


def execute(command, folder, environment):
    """(its output, wall seconds, processor seconds)"""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    after = os.times()
    if done.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n{done.stdout.decode(errors='replace')[-800:]}")
    processor_s = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout.decode(errors="replace"), time.perf_counter() - start, processor_s


def compare(options, folder):
    """Runs everything; returns the page's text and whether all lists are equal."""
    text, size_bytes = folder / "text.txt", bytes_of(options.size)
    execute([options.build / "bin/wpcc", "-O2", ROOT / "examples/wordcount.cu", "-o", folder / "wordcount"], folder, {})
    execute([options.build / "apps/stream-wordcount", "--input", options.input.resolve(), "--size", f"{size_bytes}B", "--write", text],
            folder, {})
    start = time.perf_counter(), time.process_time()
    wanted, words = count(text)
    wall_s, processor_s = time.perf_counter() - start[0], time.process_time() - start[1]
    reference = f"{text.stat().st_size:,} bytes, {words:,} words, {wanted.count(10):,} different"
    page = [f"Reference (`count` of bench/mapreduce/check.py, Python {sys.version.split()[0]}): {reference}; "
            f"{wall_s:.0f} s by the clock, {processor_s:.0f} s of processor time.", ""]
    print(page[0], flush=True)
    are_equal = True
    for heap in options.heap:
        counts = folder / "counts.txt"
        counts.unlink(missing_ok=True)
        environment = {"WARPAGE_DEVICE": "cpu", **({"HEAP": str(bytes_of(heap))} if heap != "0" else {})}
        output, wall_s, processor_s = execute([folder / "wordcount", text.name], folder, environment)
        is_equal = counts.read_bytes() == wanted
        are_equal &= is_equal
        shown = f"    $ {'HEAP=' + environment['HEAP'] + ' ' if heap != '0' else ''}./wordcount text.txt"
        lines = [line for line in output.replace("\r", "\n").splitlines() if "\x1b" not in line and line.strip()]
        page += [shown, *(f"    {line}" for line in lines), "",
                 f"{wall_s:.0f} s by the clock, {processor_s:.0f} s of processor time. Its {wanted.count(10):,} counts and the reference's: "
                 + ("equal, byte for byte." if is_equal else "NOT equal."), ""]
        print("\n".join(page[-len(lines) - 4:]), flush=True)
    return "\n".join(page), are_equal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=pathlib.Path, metavar="TEXT", help="print the reference's counts of a text only")
    parser.add_argument("--input", type=pathlib.Path, help="text, or tar archive of texts (also .zst)")
    parser.add_argument("--size", default="4GiB", help="of the text, with KiB, MiB or GiB (default 4GiB)")
    parser.add_argument("--heap", nargs="+", default=["3MiB", "0"], help="device memory for keys and values (default: 3MiB, then 0)")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--dry", action="store_true", help="write no page")
    options = parser.parse_args()
    if options.count:
        sys.stdout.buffer.write(count(options.count)[0])
        return 0
    if options.input is None:
        parser.error("--input or --count is needed")
    options.build = options.build.resolve()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        text, are_equal = compare(options, pathlib.Path(folder))
    if not options.dry:
        machine, shown_size = about.machine(), re.sub("([A-Z])", r" \1", options.size, count=1)
        page = ROOT / "bench/results" / f"{datetime.date.today()}-wordcount-{options.size.lower()}.md"
        page.write_text(f"""# Word Count over {shown_size}, compared with a count by another program

{datetime.date.today()}, `python3 bench/mapreduce/check.py --input {options.input.name} --size {options.size} --heap {' '.join(options.heap)}`, commit
{about.checked_out()}, {machine['cpu']}, {machine['processors']} processors, load average {load:.1f} before.

{text}""")
        print(f"wrote {page.relative_to(ROOT)}")
    return 0 if are_equal else 1


if __name__ == "__main__":
    sys.exit(main())

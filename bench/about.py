# SPDX-License-Identifier: Apache-2.0
"""What a results page says of its run: the machine, and the commit."""
import glob
import gzip
import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output_of(command, default=""):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else default
    except OSError:
        return default


def first_line(command):
    return (output_of(command).splitlines() or ["not here"])[0]


def file_text(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return ""


def cache_bytes(level):
    sizes = []
    for index in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*"):
        if file_text(index + "/level") == str(level) and file_text(index + "/type") != "Instruction":
            sizes.append(int(file_text(index + "/size").rstrip("K")) * 1024)
    return max(sizes, default=0)


def machine():
    info = file_text("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", info)
    memory = re.search(r"MemTotal:\s*(\d+) kB", file_text("/proc/meminfo"))
    caches = {f"l{level}_bytes": cache_bytes(level) for level in (1, 2, 3)}
    return {
        "cpu": model.group(1) if model else platform.processor(),
        "processors": len(os.sched_getaffinity(0)), **caches,
        "last_level_cache_bytes": max(caches.values()),
        "memory_bytes": int(memory.group(1)) * 1024 if memory else 0,
        "is_virtual": "hypervisor" in info, "kernel": platform.release(),
        "transparent_hugepage": file_text("/sys/kernel/mm/transparent_hugepage/enabled")}


def write_raw(page, report):
    """Every number of the run, beside the page: `<page>.json.gz`, which `zcat` prints."""
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    pathlib.Path(page).with_suffix(".json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def checked_out():
    """The commit at the start of the run; the build tree is taken to be that of it."""
    has_changes = output_of(["git", "status", "--porcelain", "--", "src", "include", "bench", "cmake", ":!bench/results"]) != ""
    return output_of(["git", "rev-parse", "--short=12", "HEAD"], "unknown") + (" with local changes" if has_changes else "")

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users do to programs that are at work.

    robust.py signals|crowd|names|bytes|children BUILD [SEED]

signals: SIGINT, SIGTERM, SIGKILL at random moments of run, trace record, groupby, reproduce: no
         half-written result, no process left; no temporary file left, but after SIGKILL, and then
         the next run works.
crowd:   1,000 programs on one empty cache, in batches; two compilers on one empty cache.
names:   odd names and arguments in every form of a report.
bytes:   bytes that are not UTF-8 where commands print JSON.
children: programs that fork, start others and close stderr.
"""
import csv
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

PART, BUILD = sys.argv[1], os.path.abspath(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WPCC, WARPAGE = BUILD + "/bin/wpcc", BUILD + "/bin/warpage"
FAILED = []


def fail(text):
    FAILED.append(text)
    print("FAILED:", text)


def session_of(pid):
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rsplit(b")", 1)[1].split()
    return None if fields[0] == b"Z" else int(fields[3])


def left_of(session):
    """Processes of this session that still run, given two seconds to end."""
    for _ in range(40):
        left = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and session_of(name) == session:
                    left.append(name)
            except (OSError, IndexError):
                pass
        if not left:
            return []
        time.sleep(0.05)
    return left


def quiet(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **more)


def built(name="vecadd"):
    result = quiet([WPCC, SOURCE + "/examples/vecadd.cu", "-o", name])
    assert result.returncode == 0, result.stderr
    return "./" + name


# ---- signals ------------------------------------------------------------------------------------

def whole_json(path):
    with open(path, encoding="utf-8") as file:
        json.load(file)


def whole_trace(path):
    assert quiet([WARPAGE, "trace", "info", path]).returncode == 0, path


def whole_table(path):
    with open(path, encoding="utf-8") as file:
        assert len(file.read().splitlines()) == 1001, path


def signals():
    chance = random.Random(SEED)
    program = built()
    with open("table.csv", "w", encoding="utf-8") as file:
        file.write("k,v\n" + "".join(f"{i % 1000},{i}\n" for i in range(200000)))
    run = [WARPAGE, "run", "--device", "sim:k80", "--report", "r.json", "--timeline", "t.json", "--", program]
    cases = [
        (run, {"r.json": whole_json, "t.json": whole_json}, 7),
        ([WARPAGE, "trace", "record", "-o", "t.wpt", "--device", "sim:k80", "--", program], {"t.wpt": whole_trace}, 6),
        ([WARPAGE, "groupby", "--key", "k", "--agg", "sum:v", "--output", "g.csv", "table.csv"], {"g.csv": whole_table}, 6),
        ([WARPAGE, "reproduce", "neidty"], {}, 3),
    ]
    os.mkdir("tmp")
    environment = dict(os.environ, TMPDIR=os.path.abspath("tmp"))
    fresh = set(os.listdir("."))
    for command, results, tries in cases:
        begin = time.monotonic()
        if results:
            first = quiet(command, env=environment)
            assert first.returncode == 0, first.stderr
        takes = time.monotonic() - begin if results else 2.0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for turn in range(tries):
                for name in set(os.listdir(".")) - fresh:
                    shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
                for name in os.listdir("tmp"):
                    shutil.rmtree("tmp/" + name)
                what = f"{command[1]} {number.name} (seed {SEED})"
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
                # Every other one while results are written.
                time.sleep(chance.uniform(0.01 if turn % 2 else 0.9 * takes, 1.1 * takes))
                try:
                    # A terminal sends SIGINT to the group; others send a signal to the command.
                    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
                except ProcessLookupError:
                    pass
                process.wait()
                left = left_of(process.pid)
                if left:
                    fail(f"{what}: processes left: {left}")
                    for pid in left:
                        os.kill(int(pid), signal.SIGKILL)
                for name, check in results.items():
                    try:
                        if os.path.exists(name):
                            check(name)
                    except (AssertionError, ValueError) as error:
                        fail(f"{what}: half-written {name}: {error}")
                if number != signal.SIGKILL:
                    if os.listdir("tmp"):
                        fail(f"{what}: left in TMPDIR: {os.listdir('tmp')}")
                    extra = set(os.listdir(".")) - fresh - set(results)
                    extra = {name for name in extra if not name.startswith("repro")}
                    if extra:
                        fail(f"{what}: left: {extra}")
        if results and quiet(command, env=environment).returncode != 0:
            fail(f"{command[1]}: the next run fails")


# ---- crowd --------------------------------------------------------------------------------------

TINY = """#include <stdio.h>
__global__ void add(int *sum) { atomicAdd(sum, (int)threadIdx.x); }
int main(void) {
    int *sum, got = 0;
    if (cudaMalloc((void **)&sum, sizeof *sum) || cudaMemset(sum, 0, sizeof *sum)) return 1;
    add<<<1, 32>>>(sum);
    if (cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDefault)) return 1;
    printf("%d\\n", got);
    return got != 496;
}
"""


def crowd():
    with open("tiny.cu", "w", encoding="utf-8") as file:
        file.write(TINY)
    program = "./tiny"
    assert quiet([WPCC, "tiny.cu", "-o", "tiny"]).returncode == 0
    environment = dict(os.environ, WARPAGE_CACHE=os.path.abspath("cache"), WARPAGE_DEVICE="sim:k80",
                       WARPAGE_WORKERS="1")
    expected, started, running = None, 0, []
    while started < 1000 or running:
        # The first meet on an empty cache; as many as two cores bear.
        while started < 1000 and len(running) < 8:
            running.append(subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, env=environment))
            started += 1
        process = running.pop(0)
        said = process.communicate()[0]
        expected = expected if expected is not None else said
        if process.returncode != 0 or said != expected:
            fail(f"one of 1,000: exit status {process.returncode}: {said[-300:]}")
            break
    for process in running:
        process.communicate()
    names = os.listdir("cache")
    if [n for n in names if not n.endswith(".so")]:
        fail(f"left in the cache: {names}")
    environment["WARPAGE_CACHE"] = os.path.abspath("cache2")
    pair = [subprocess.Popen([WPCC, "-c", SOURCE + "/examples/vecadd.cu", "-o", f"{i}.o"], env=environment)
            for i in range(2)]
    for process in pair:
        if process.wait() != 0:
            fail("two compilers on one cache")
    if [n for n in os.listdir("cache2") if not n.endswith((".pch", ".txt"))]:
        fail(f"left in the cache: {os.listdir('cache2')}")


# ---- names --------------------------------------------------------------------------------------

class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        for name, _ in attrs:
            if name.startswith("on"):
                fail(f"HTML: an attribute {name}")


def tags_of(path):
    with open(path, encoding="utf-8") as file:
        tags = Tags()
        tags.feed(file.read())
    return tags.seen.count("script"), tags.seen.count("img"), tags.seen.count("b")


ODD = ["plain", "two words", "single'quote", 'double"quote', "new\nline", "ünï-코드", "<script>alert(1)<",
       "per%s%n%d", "com,ma", "semi;colon", "$(touch hacked)", "`touch hacked`", "back\\slash", "&amp;",
       "]]>", "tab\there", b"bytes-\xff\xfe-\xc3\xa9-\xc3", "-dash", "<img src=x onerror=y>".replace("/", ""),
       "bell\a"]


def names():
    program = built()
    plain = None
    for odd in ODD:
        raw = odd if isinstance(odd, bytes) else os.fsencode(odd)
        folder = b"d " + raw
        os.mkdir(folder)
        path = os.path.join(b".", folder, raw)
        shutil.copy(program, path)
        forms = [os.path.join(folder, b"r" + raw + form) for form in (b".txt", b".json", b".csv", b".html")]
        for form in forms:
            more = [b"--timeline", os.path.join(folder, b"time.json"), b"--output", os.path.join(folder, b"out")]
            result = quiet([WARPAGE.encode(), b"run", b"--report", form] +
                           (more if form.endswith(b".html") else []) + [b"--", path, raw, b""])
            if result.returncode != 0:
                fail(f"{odd!r}: {form!r}: {result.returncode}: {result.stderr[-300:]}")
                continue
            try:
                with open(form, encoding="utf-8", newline="") as file:
                    text = file.read()
                if form.endswith(b".json"):
                    words = json.loads(text)["program"]
                    said = words if isinstance(words, list) else [words]
                    # A byte that is not UTF-8 becomes U+FFFD; characters beside it stay.
                    if raw.decode("utf-8", "replace") not in said:
                        fail(f"{odd!r}: not among the JSON's arguments: {said}")
                if form.endswith(b".csv"):
                    widths = {len(row) for row in csv.reader(text.splitlines(keepends=True)) if row}
                    if len(widths) > 1:
                        fail(f"{odd!r}: rows of the CSV have {widths} fields")
                if form.endswith(b".html"):
                    counts = tags_of(form)
                    plain = plain or counts
                    if counts != plain:
                        fail(f"{odd!r}: the HTML has {counts} tags, not {plain}")
            except (ValueError, KeyError) as error:
                fail(f"{odd!r}: {form!r}: {error}")
        try:
            whole_json(os.path.join(folder, b"time.json"))
            for made in glob.glob(os.path.join(glob.escape(os.fsdecode(folder)), "out/**"), recursive=True):
                if made.endswith(".svg"):
                    xml.parse(made)
                if made.endswith(".json"):
                    whole_json(made)
                if made.endswith(".html"):
                    tags_of(made)
        except (OSError, ValueError, xml.ParseError) as error:
            fail(f"{odd!r}: {error}")
    if os.path.exists("hacked"):
        fail("a name was run by a shell")


# ---- bytes --------------------------------------------------------------------------------------

RAW = b"b\xff\xfe-\xc3"
SEEN = RAW.decode("utf-8", "replace")

MANAGED = """__global__ void add(int *p) { p[blockIdx.x * 1024 + threadIdx.x]++; }
int main(void) {
    int *p;
    if (cudaMallocManaged((void **)&p, 1 << 20)) return 1;
    add<<<256, 32>>>(p);
    add<<<256, 32>>>(p);
    return cudaDeviceSynchronize();
}
"""


def bytes_in_names():
    """Bytes that are not UTF-8 in arguments, folders and device files of commands that print JSON."""
    with open("managed.cu", "w", encoding="utf-8") as file:
        file.write(MANAGED)
    os.mkdir(RAW)
    program, profile = RAW + b"/" + RAW, RAW + b"/" + RAW + b".ini"
    result = quiet([WPCC, "managed.cu", "-o", "managed"])
    assert result.returncode == 0, result.stderr
    shutil.move("managed", program)
    shutil.copy(SOURCE + "/configs/k80.ini", profile)
    out = RAW + b"/out"
    cases = [
        ([b"advise", b"--limit", b"1", b"--device", b"sim:gtx1080ti", b"--output", out, b"--", program, RAW], True),
        ([b"compare", b"--device", b"sim:" + profile, b"--vary", b"sm.warps=8,16", b"--output", out + b"2",
          b"--", program, RAW], False),
        ([b"run", b"--device", b"sim:" + profile, b"--report", out + b".json", b"--", program, RAW], True),
        ([b"probe", b"--budget", b"1ms", b"--device", b"sim:" + profile, b"--output", out + b"3"], True),
    ]
    for command, is_named in cases:
        what = command[0].decode()
        form = [] if what == "run" else [b"--format", b"json"]
        result = quiet([WARPAGE.encode(), command[0]] + form + command[1:])
        # A probe that has no time left prints what it has, and fails.
        if result.returncode != 0 and not (what == "probe" and b"the budget of" in result.stderr):
            fail(f"{what}: exit status {result.returncode}: {result.stderr[-300:]}")
            continue
        said = result.stdout
        if what == "run":
            with open(out + b".json", "rb") as file:
                said = file.read()
        try:
            json.loads(said)
            if is_named and SEEN not in said.decode("utf-8"):
                fail(f"{what}: its JSON does not name {SEEN}: {said[:300]}")
        except ValueError as error:
            fail(f"{what}: {error}")
    made = glob.glob(os.path.join(glob.escape(os.fsdecode(RAW)), "**"), recursive=True)
    for path in made:
        try:
            if path.endswith(".json"):
                whole_json(path)
            if path.endswith(".svg"):
                xml.parse(path)
            if path.endswith(".html"):
                tags_of(path)
        except (ValueError, xml.ParseError) as error:
            fail(f"{path!r}: {error}")


# ---- children -----------------------------------------------------------------------------------

PARENT = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__global__ void add(int *p) { p[threadIdx.x]++; }
__global__ void child(int *p) { p[threadIdx.x]--; }
static int launch_in_child(int *p) {
    child<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int *p, state;
    if (cudaMalloc((void **)&p, 4096)) return 1;
    if (strcmp(how, "fork") == 0 || strcmp(how, "spawn") == 0) {
        const pid_t pid = fork();
        if (pid == 0 && how[0] == 's') execl(argv[2], argv[2], (char *)0);
        if (pid == 0) exit(launch_in_child(p));
        if (waitpid(pid, &state, 0) != pid || state != 0) return 2;
    }
    if (strcmp(how, "exec") == 0) execl(argv[2], argv[2], (char *)0);
    if (strcmp(how, "close") == 0) fclose(stderr), close(2);
    add<<<1, 32>>>(p);
    add<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
"""


def children():
    """Programs that fork, start another program and close stderr: the report and the trace are of the
    first process alone."""
    with open("parent.cu", "w", encoding="utf-8") as file:
        file.write(PARENT)
    result = quiet([WPCC, "parent.cu", "-o", "parent"])
    assert result.returncode == 0, result.stderr
    other = built()
    device = ["--device", "sim:k80"]
    for how in (["plain"], ["fork"], ["spawn", other], ["spawn", "/bin/true"], ["close"], ["exec", other]):
        for name in ("r.json", "t.json", "t.wpt"):
            if os.path.exists(name):
                os.remove(name)
        result = quiet([WARPAGE, "run", "--report", "r.json", "--timeline", "t.json"] + device + ["--", "./parent"] + how)
        traced = quiet([WARPAGE, "trace", "record", "-o", "t.wpt"] + device + ["--", "./parent"] + how)
        if how[0] == "exec":
            # The program that reports is gone; both commands say so, and leave nothing.
            for command, said in (("run", result), ("trace record", traced)):
                if said.returncode != 1 or b"exec" not in said.stderr:
                    fail(f"{command}, {how}: {said.returncode}: {said.stderr}")
            left = [name for name in os.listdir(".") if name.startswith(("r.json", "t.json", "t.wpt"))]
            if left:
                fail(f"{how}: left: {left}")
            continue
        if result.returncode != 0 or traced.returncode != 0:
            fail(f"{how}: {result.stderr} {traced.stderr}")
            continue
        whole_json("t.json")
        with open("r.json", encoding="utf-8") as file:
            kernels = [(k["display_name"], k["launches"]) for k in json.load(file)["kernels"]]
        if kernels != [("add(int*)", 2)]:
            fail(f"{how}: the report has {kernels}")
        info = quiet([WARPAGE, "trace", "info", "t.wpt"])
        if info.returncode != 0 or b"launches    2\n" not in info.stdout:
            fail(f"{how}: the trace: {info.stdout} {info.stderr}")


def main():
    print("seed", SEED)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if PART != "crowd":
            os.environ["WARPAGE_CACHE"] = folder + "/.cache"
        {"signals": signals, "crowd": crowd, "names": names, "bytes": bytes_in_names,
         "children": children}[PART]()
        os.chdir("/")
    return 1 if FAILED else 0


sys.exit(main())

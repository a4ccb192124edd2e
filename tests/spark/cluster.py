# SPDX-License-Identifier: Apache-2.0
"""On the cluster of cluster.sh, with three workers: the example's groups, and a sweep of 24 simulations, while each
loses a worker in the middle of its tasks. Run by cluster.sh."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MASTER = os.environ["SPARK_MASTER"]
WORKERS = [int(pid) for pid in os.environ["SPARK_WORKERS"].split()]
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
from pyspark.sql import SparkSession  # noqa: E402
import warpage  # noqa: E402
import warpage.spark as ws  # noqa: E402
from warpage import command  # noqa: E402


def session_of(leader):
    """The processes of a worker's session, with their command lines."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                yield int(folder.name), (folder / "cmdline").read_bytes()
        except (OSError, IndexError):
            continue


def kill_once(leaders, is_at_work, killed):
    """Kills the first worker that is at work, with all that it started."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not killed:
        for leader in leaders:
            processes = list(session_of(leader))
            if not any(is_at_work(line) for _, line in processes):
                continue
            for pid, _ in processes:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            killed.append(leader)
            break
        time.sleep(0.02)


def losing(leaders, is_at_work):
    killed = []
    thread = threading.Thread(target=kill_once, args=(leaders, is_at_work, killed), daemon=True)
    thread.start()
    return killed, thread


def example(folder):
    """Its only tasks in Python are those of warpage.spark: the first process of theirs is killed with its worker."""
    table = folder / "table.csv"
    with open(table, "w", encoding="utf-8") as file:
        file.write("user,item,price\n")
        file.writelines("%d,item%d,%d\n" % (i * 7919 % 5003, i * i % 11, i % 1000) for i in range(60_000))
    killed, thread = losing(WORKERS, lambda line: b"pyspark.daemon" in line)
    done = subprocess.run([sys.executable, str(ROOT / "examples/spark_groupby.py"), "--master", MASTER, str(table), "user,item",
                           "count,sum:price,avg:price"], capture_output=True, text=True, check=False)
    thread.join(1)
    assert done.returncode == 0 and "the same as Spark's own" in done.stdout, done.stdout + done.stderr
    assert killed, "no worker was killed"
    print("%s, with a worker lost" % done.stdout.splitlines()[-1])
    return killed[0]


VARY = {"device": ["sim:gtx1080ti", "sim:p100"], "tlb.l1.entries": [16, 64, 128], "walker.count": [1, 2, 4, 8]}
PAGES = """
#include <cuda_runtime.h>
__global__ void add(float *v) { v[(blockIdx.x * blockDim.x + threadIdx.x) * 97 % (1 << 14)] += 1; }
int main(void) {
    float *v;
    cudaMallocManaged(&v, sizeof(float) << 14);
    add<<<16, 128>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""
CLOCK = """
#include <cuda_runtime.h>
__global__ void wait(long long *out) { out[threadIdx.x] = clock64(); }
int main(void) {
    long long *out;
    if (cudaMalloc((void **)&out, 64 << 20) != cudaSuccess) return 3;
    wait<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def warpage_says(*words):
    return subprocess.run([command.find("warpage"), *words], capture_output=True, text=True, check=True).stdout


def files(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).glob("*.json")}


def build(name, source):
    pathlib.Path(name + ".cu").write_text(source, encoding="utf-8")
    subprocess.run([command.find("wpcc"), name + ".cu", "-o", name], check=True)


def sweep(workers):
    """24 cells, one worker lost: compare's files and table, byte for byte; then a sweep that goes on."""
    build("pages", PAGES)
    build("clock", CLOCK)
    words = [*command.compare_words(VARY, {}), "--", "./pages"]
    started = time.monotonic()
    table = warpage_says("compare", "--output", "alone", "--format", "json", "--jobs", "2", *words)
    alone_s = time.monotonic() - started

    spark = (SparkSession.builder.master(MASTER).config("spark.log.level", "OFF")
             .config("spark.ui.showConsoleProgress", "false").getOrCreate())
    spark.range(4).repartition(4).mapInArrow(lambda batches: batches, "id long").count()  # every worker has its Python
    killed, thread = losing(workers, lambda line: line.split(b"\0")[1:3] == [b"trace", b"replay"])
    started = time.monotonic()
    swept = ws.sweep("./pages", VARY, output="swept")
    swept_s = time.monotonic() - started
    thread.join(1)
    assert killed, "no worker was killed"
    assert files("alone") == files("swept") and len(files("swept")) == 24
    assert warpage_says("compare", "--output", "swept", "--finished", "--format", "json", *words) == table
    rows = [row.asDict() for row in swept.collect()]
    for row, cell in zip(rows, json.loads(table)):
        assert row.pop("failure") is None
        assert row == {name: cell.get(name) for name in row}, (row, cell)
    print("24 cells: compare %.1f s, sweep %.1f s with a worker lost" % (alone_s, swept_s))

    made = sorted(pathlib.Path("swept").glob("*.json"))
    times = {path.name: path.stat().st_mtime_ns for path in made[3:]}
    for path in made[:3]:
        path.unlink()
    ws.sweep("./pages", VARY, output="swept")
    assert files("alone") == files("swept")
    assert all(pathlib.Path("swept", name).stat().st_mtime_ns == time_ns for name, time_ns in times.items())

    # A program that reads the clock runs again where the task is; a cell that fails is a row.
    vary = {"gpu.memory": ["1GiB", "16MiB"]}
    rows = ws.sweep(["./clock"], vary, output="clocks").collect()
    assert rows[0]["failure"] is None and rows[1]["failure"].startswith("exit status 3: "), rows
    assert rows[0]["how"] == "run" and rows[0]["kernel_time_ns"] > 0 and rows[1]["kernel_time_ns"] is None, rows
    warpage_says("compare", "--output", "clock-alone", "--vary", "gpu.memory=1GiB", "--", "./clock")
    assert files("clock-alone") == files("clocks")
    try:
        ws.sweep(["./nowhere"], vary)
    except warpage.WarpageError as error:
        assert "nowhere" in str(error), error
    else:
        raise AssertionError("a sweep of nothing")
    spark.stop()


def main():
    with tempfile.TemporaryDirectory() as folder:
        lost = example(pathlib.Path(folder))
        os.chdir(folder)
        sweep([worker for worker in WORKERS if worker != lost])
        os.chdir("/")


main()

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stages of streamed launches on the timeline: they lie within the kernel's time, and overlap; and the rows of the
# report about them, which is the same bytes from every run, with one worker or two, wherever things lie in memory.
set -u
command -v python3 >/dev/null || exit 77
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"

# Every span of a stage is within the kernel; each chunk passes the stages in order.
cat >"$TMP/check.py" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
sets, stages, overlaps = int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4] == "overlaps"
names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
kernel = next(e for e in events if e.get("cat") == "kernel")
first, outer = kernel["ts"], kernel["ts"] + kernel["dur"]
slack = 0.05 * kernel["dur"] + 10  # an actor's last step may come behind the kernel's end
if sys.argv[4] == "shifted":  # the actors' clock is another one: the stand-in's is shifted by as much as a thread was late
    slack = 1e9
tracks = {}
for e in events:
    if e["ph"] == "X" and ": " in names.get(e["tid"], "") and e["name"] != "waits":
        tracks.setdefault(names[e["tid"]], []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
expected = sorted(f"set {s}: {stage}" for s in range(sets) for stage in stages)
assert sorted(tracks) == expected, (sorted(tracks), expected)
for name, spans in tracks.items():
    assert [span[2] for span in spans] == [f"chunk {n}" for n in range(len(spans))], name
    for begin, end, _ in spans:
        assert first - slack <= begin <= end <= outer + slack, (name, begin, end, first, outer)
for s in range(sets):
    counts = {len(tracks[f"set {s}: {stage}"]) for stage in stages}
    assert len(counts) == 1, counts
    for before, behind in zip(stages, stages[1:]):
        for (a, _, _), (b, _, _) in zip(tracks[f"set {s}: {before}"], tracks[f"set {s}: {behind}"]):
            assert a <= b + slack, (s, before, behind, a, b)
if overlaps:  # addresses and gathering of later chunks run beside computation
    def both(a, b):
        return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in tracks[a] for y in tracks[b])
    assert both("set 0: gather", "set 0: compute") > 0
EOF

run() { # device, timeline's expectations, app, arguments...
    device=$1 expected=$2
    exe=$(program "$3") || return
    shift 3
    rm -f "$TMP/timeline"
    "$WARPAGE" run --device "$device" --timeline "$TMP/timeline" -- "$exe" "$@" >"$TMP/stdout" 2>"$TMP/report" ||
        { fail "$device $exe: failed"; cat "$TMP/report"; }
    # shellcheck disable=SC2086
    python3 "$TMP/check.py" "$TMP/timeline" $expected || fail "$device $exe: the timeline"
}
says() { grep -Eq -- "$1" "$TMP/report" || { fail "no '$1' in"; cat "$TMP/report"; }; }

slices="2 addresses,gather,compute,store"
run "sim:gtx680@xeon-e5-quad" "$slices overlaps" stream-kmeans --size 4000 --blocks 2 --threads 64 --buffer 256KiB
says '^  sent more than once +0 B$'
says '^  gather +[0-9.]+ % +[0-9.]+ %$'
run cpu "$slices -" stream-kmeans --size 4000 --blocks 2 --threads 64 --buffer 256KiB
WARPAGE_LIBCUDA=$(dirname "$WPCC")/../tests/libfake_cuda.so
if [ -e "$WARPAGE_LIBCUDA" ]; then
    export WARPAGE_LIBCUDA
    run cuda:0 "$slices shifted" stream-kmeans --size 4000 --blocks 2 --threads 64 --buffer 256KiB
fi
# Windows of neighbours share lines: some bytes are sent twice. More than eight sets: the first eight have tracks.
run "sim:gtx680@xeon-e5-quad" "4 windows -" stream-wordcount --size 50K --blocks 4 --threads 64 --buffer 256KiB
says '^  sent more than once +[1-9][0-9.]* KiB$'
run "sim:gtx680@xeon-e5-quad" "8 addresses,gather,compute,store -" stream-kmeans --size 20000 --blocks 10 --threads 64 \
    --buffer 1MiB

same() { # app, arguments...
    exe=$(program "$1") || return
    shift
    for n in 1 2; do
        FILLER=$(printf '%*s' $((n * 3000)) x) WARPAGE_WORKERS=$n "$WARPAGE" run --device sim:gtx680@xeon-e5-quad \
            --report "$TMP/run.json" -- "$exe" "$@" >"$TMP/stdout" 2>"$TMP/stderr" || { fail "$exe: failed"; cat "$TMP/stderr"; }
        grep -v '"wall_time_ns"' "$TMP/run.json" >"$TMP/$n.report"
    done
    grep -q '"streamed"' "$TMP/1.report" || fail "$exe: nothing is streamed"
    cmp -s "$TMP/1.report" "$TMP/2.report" || { fail "$exe: another report"; diff "$TMP/1.report" "$TMP/2.report"; }
}
same stream-kmeans --size 4000 --blocks 2 --threads 64 --buffer 256KiB
same stream-wordcount --size 50K --blocks 4 --threads 64 --buffer 256KiB

# What streams a kernel has no findings, for those who look for them in the kernel: neither windows, whose requests the
# host orders, nor the barriers of a block's halves.
check() { # source
    "$WPCC" -w -I "$E2E" "$1" -o "$TMP/checked" || fail "$1: not compiled"
    WARPAGE_DEVICE=cpu WARPAGE_CHECK=1 "$TMP/checked" >"$TMP/stdout" 2>"$TMP/report" || { fail "$1: failed"; cat "$TMP/report"; }
}
check "$E2E/stream_launches.cu"
says '^warpage check: nothing found$'

# Those of the kernel are found, at their lines.
cat >"$TMP/mistakes.cu" <<'EOF'
#include <warpage/stream.h>
__global__ void mistakes(const int *data, long count, int *out)
{
    __shared__ int sum;
    for (long i = threadIdx.x; i < count; i += blockDim.x)
        sum += data[i];
    out[threadIdx.x] = sum;
}
int main()
{
    static int host[4096];
    int *data, *out;
    streamingMalloc((void **)&data, sizeof host);
    streamingMap(data, host, sizeof host);
    cudaMalloc((void **)&out, 60 * sizeof *out);
    mistakes<<<1, 64>>>(data, 4096, out);
    cudaDeviceSynchronize();
    streamingFree(data);
    return cudaFree(out);
}
EOF
check "$TMP/mistakes.cu"
says 'kernel mistakes.*: race between'
says 'which thread .* wrote at .*mistakes.cu:6,'
says 'kernel mistakes, .*mistakes.cu:7: out-of-bounds access'
says '^warpage check: [23] findings$'

[ "$failures" -eq 0 ]

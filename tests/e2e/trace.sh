# SPDX-License-Identifier: Apache-2.0
# Traces: a replay on the GPU where a program was recorded gives the report that the program itself left;
# on others it is refused where the program would have been told something else.
set -eu
cd "$TMP"
gpu=sim:gtx1080ti

fail() {
    echo "$1"
    exit 1
}
# Real time and the exit status, which only `warpage` knows, are not of the simulation.
strip() { grep -v -e '"wall_time_ns"' -e '"exit_status"' "$1"; }

# Three streams whose copies and kernels overlap, an event that one waits for, a host that polls.
cat >overlap.cu <<'END'
#include <cstdio>
__global__ void scale(float *x, int n, float by)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] *= by;
}
static void CUDART_CB nothing(void *) {}
int main()
{
    const int n = 1 << 16;
    float *host, *device[3];
    cudaStream_t streams[3];
    cudaEvent_t event, end;
    cudaMallocHost(&host, n * sizeof(float));
    cudaEventCreate(&event);
    cudaEventCreate(&end);
    for (int i = 0; i < n; i++)
        host[i] = 1;
    for (int s = 0; s < 3; s++) {
        cudaStreamCreateWithFlags(&streams[s], s == 0 ? 0 : cudaStreamNonBlocking);
        cudaMalloc(&device[s], n * sizeof(float));
        cudaMemcpyAsync(device[s], host, n * sizeof(float), cudaMemcpyHostToDevice, streams[s]);
        if (s == 2)
            cudaStreamWaitEvent(streams[s], event, 0);
        scale<<<16 * (s + 1), 128, 0, streams[s]>>>(device[s], n, s + 2);
        if (s == 1)
            cudaEventRecord(event, streams[s]);
        cudaLaunchHostFunc(streams[s], nothing, nullptr);
    }
    while (cudaStreamQuery(streams[1]) == cudaErrorNotReady)
        ;
    scale<<<8, 64>>>(device[0], n, 3);
    cudaMemsetAsync(device[1], 0, n * sizeof(float), streams[1]);
    cudaEventRecord(end, streams[2]);
    cudaEventSynchronize(end);
    cudaMemcpy(host, device[0], n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    cudaFree(device[2]);
    puts(host[0] == 6 ? "PASS" : "FAIL");
}
END
cp "$E2E/barrier_loops.cu" "$E2E/divergence.cu" "$E2E/shared_extern.cu" "$E2E/device_queries.cu" \
    "$E2E/clocks.cu" "$E2E/check.h" .

# The record is written by the recorded run itself.
for name in overlap barrier_loops divergence shared_extern; do
    "$WPCC" "$name.cu" -o "$name"
    "$WARPAGE" trace record --device "$gpu" -o "$name.wpt" -- env WARPAGE_RUN_RECORD=run.json "./$name" >out 2>err ||
        fail "$name: not recorded: $(cat err)"
    tail -n 1 out | grep -q PASS || fail "$name: its output did not pass through"
    "$WARPAGE" trace replay --device "$gpu" --report replay.json "$name.wpt"
    # The record is of the same lines as a report made from it, in another order.
    strip run.json | sed 's/,$//' | sort >run && strip replay.json >replay
    sed 's/,$//' replay | sort >sorted
    cmp run sorted || { diff run sorted; fail "$name: the replay's report differs from the run's"; }
    "$WARPAGE" run --device "$gpu" --report direct.json -- "./$name" >/dev/null
    cmp direct.json replay.json || { diff direct.json replay.json; fail "$name: the replay's report differs from a run's"; }
    "$WARPAGE" trace replay --device "$gpu" --report again.json "$name.wpt"
    strip again.json >again && cmp replay again || fail "$name: two replays differ"
done

# Another GPU, and other numbers, give other times; those of a run there.
"$WARPAGE" run --device sim:k80 --report direct.json -- ./shared_extern >/dev/null
"$WARPAGE" trace replay --device sim:k80 --report k80.json shared_extern.wpt
cmp direct.json k80.json || { diff direct.json k80.json; fail "a replay on another GPU differs from a run there"; }
"$WARPAGE" trace replay --device sim:k80 --report k80.json barrier_loops.wpt
strip k80.json >k80
cmp -s replay k80 && fail "the same report on another GPU"
"$WARPAGE" trace replay --device "$gpu" --set gpu.core_clock=700MHz --report slow.json barrier_loops.wpt

# A functional recording replays, too, and says the same of what was accessed.
"$WARPAGE" trace record --functional --device "$gpu" -o functional.wpt -- ./barrier_loops >out 2>err ||
    fail "not recorded functionally: $(cat err)"
"$WARPAGE" trace replay --device "$gpu" --report functional.json functional.wpt
"$WARPAGE" trace info --format csv functional.wpt >functional.csv
"$WARPAGE" trace info --format csv barrier_loops.wpt >simulated.csv
cut -d, -f1-5 functional.csv >a && cut -d, -f1-5 simulated.csv >b
cmp a b || { diff a b; fail "functional and simulated recordings differ in accesses"; }

# Launches that are cut out; the others stay as they were.
"$WARPAGE" trace cut --launches 2-3 -o cut.wpt barrier_loops.wpt
[ "$("$WARPAGE" trace info --launches --format csv cut.wpt | wc -l)" -eq 3 ] || fail "the cut has not two launches"
"$WARPAGE" trace info --launches --format json cut.wpt | python3 -c 'import json, sys
for row in json.load(sys.stdin): assert row["accesses"] > 0 and row["replayable"] is True and isinstance(row["grid"], str), row' || fail "trace info's JSON"
"$WARPAGE" trace replay --device "$gpu" --report cut.json cut.wpt
"$WARPAGE" trace cut --kernels nested -o nested.wpt barrier_loops.wpt
"$WARPAGE" trace info --format csv nested.wpt | grep -q nested || fail "the cut lacks its kernel"
[ "$("$WARPAGE" trace info --format csv nested.wpt | wc -l)" -eq 2 ] || fail "the cut has other kernels"
"$WARPAGE" trace cut --kernels nowhere -o none.wpt barrier_loops.wpt 2>err && fail "an empty cut was made"
grep -q 'no launch matches' err && [ ! -e none.wpt ] || fail "an empty cut: $(cat err)"

# A program that asked for the number of multiprocessors.
"$WPCC" device_queries.cu -o queries
"$WARPAGE" trace record --device "$gpu" -o queries.wpt -- ./queries >out 2>err || fail "$(cat err)"
"$WARPAGE" trace replay --device "$gpu" --report queries.json queries.wpt
"$WARPAGE" trace replay --device sim:k80 queries.wpt >out 2>err && fail "replayed where the answer differs"
grep -q 'queried cuda.* for multiprocessors: 28 when it was recorded, but sim:k80 reports 13' err || fail "$(cat err)"

# A kernel that reads the clock.
"$WPCC" clocks.cu -o clocks
"$WARPAGE" trace record --device "$gpu" -o clocks.wpt -- ./clocks >out 2>err || fail "$(cat err)"
"$WARPAGE" trace replay --device "$gpu" clocks.wpt >out 2>err && fail "a kernel that reads the clock was replayed"
grep -q 'kernel .*measure.* it cannot be replayed' err || fail "$(cat err)"

# Files that are no traces any more.
head -c 400 overlap.wpt >short.wpt
"$WARPAGE" trace replay --device "$gpu" short.wpt 2>err && fail "a truncated trace was replayed"
grep -q 'short.wpt: offset 400: the trace is truncated' err || fail "$(cat err)"

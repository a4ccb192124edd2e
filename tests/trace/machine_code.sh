#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sm.code = ptxas: what the tables of a kernel count is what the cubin has, the program's results stay, and what cannot
# be done is one sentence.
#     machine_code.sh <wpcc>
set -u
wpcc=$1
bin=$(dirname "$wpcc")
root=$(cd "$(dirname "$0")/../.." && pwd)
WARPAGE_PTXAS=${WARPAGE_PTXAS:-$root/build/ptxas/ptxas}
export WARPAGE_PTXAS
[ -x "$WARPAGE_PTXAS" ] || { echo "ptxas is not there; fetch it by tools/ptxas.sh"; exit 77; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

say() {
    echo "FAILED: $1"
    failed=1
}
expect() { # what, wanted, found
    [ "$2" = "$3" ] || say "$1: expected $2, found $3"
}

cat >"$tmp/x.cu" <<'SOURCE'
#include <cstdio>
/* Without branches: each warp executes what is before the end. */
__global__ void straight(float *a, const float *b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = b[i * n] * 3.0f + sqrtf(b[i]) / (float)n;
}
/* ptxas unrolls its loop, and folds what the counter decides. */
__global__ void unrolled(int *sums, const int *values) {
    __shared__ int shared[64];
    const int t = threadIdx.x;
    shared[t] = values[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) shared[t] += shared[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = shared[0];
}
int main() {
    float *a, *b;
    int *sums, *values, wrong = 0;
    cudaMallocManaged(&a, 1024 * sizeof *a);
    cudaMallocManaged(&b, 2048 * sizeof *b);
    cudaMallocManaged(&sums, 4 * sizeof *sums);
    cudaMallocManaged(&values, 256 * sizeof *values);
    for (int i = 0; i < 2048; i++) b[i] = (float)i;
    for (int i = 0; i < 256; i++) values[i] = i;
    straight<<<8, 128>>>(a, b, 2);
    unrolled<<<4, 64>>>(sums, values);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    for (int i = 0; i < 4; i++) wrong += sums[i] != 64 * 64 * i + 63 * 32;
    wrong += a[4] != 24.0f + 1.0f;
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
SOURCE
"$wpcc" "$tmp/x.cu" -o "$tmp/x" || exit 1
"$wpcc" -emit-llvm -c "$tmp/x.cu" -o "$tmp/x.bc" || exit 1

# The kernel without branches: its steps and accesses are the cubin's instructions up to the end of a warp. Kepler needs
# the ptxas of CUDA 11 (tools/ptxas.sh 11).
ptxas12=$WARPAGE_PTXAS
ptxas11=$root/build/ptxas/11/ptxas
for arch in 35 60 70 86; do
    WARPAGE_PTXAS=$ptxas12
    if [ $arch = 35 ]; then
        [ -x "$ptxas11" ] || continue
        WARPAGE_PTXAS=$ptxas11
    fi
    "$wpcc" --variant=trace@$arch "$tmp/x.bc" -o "$tmp/x.so" || exit 1
    ours=$("$bin/../tests/trace_show" "$tmp/x.so" | awk '
        $1 == "function" { inside = $2 ~ /straight/ }
        inside && $1 == "issue" { sum += $3 }
        inside && $1 == "access" { sum++ }
        END { print sum }')
    theirs=$(python3 "$root/bench/hardware/machine_code.py" --arch $arch "$tmp/x.cu" 2>/dev/null |
        awk '/straight/ { print $NF }')
    # sqrtf and the division call functions of ptxas in rare cases, which it counts and we do not.
    [ -n "$ours" ] && [ -n "$theirs" ] && [ "$ours" -le "$theirs" ] && [ $((ours * 3)) -gt "$theirs" ] ||
        say "sm_$arch: $ours instructions in the tables, $theirs in the cubin"
done

warps() { # device, code, program and its argument (x): warp instructions of each kernel
    "$bin/warpage" run --device "$1" --set "sm.code=$2" --report "$tmp/r.json" "$tmp/${3:-x}" ${4:-} >"$tmp/out" 2>&1 ||
        { say "$1, $2: $(tail -n 1 "$tmp/out")"; return; }
    python3 -c '
import json, sys
print(*sorted(int(k["counters"]["kernel_warp_instructions"]) for k in json.load(open(sys.argv[1]))["kernels"]))' "$tmp/r.json"
}
estimate=$(warps sim:p100 estimate)
first=$(warps sim:p100 ptxas)
expect "the same run twice" "$first" "$(warps sim:p100 ptxas)"
expect "results" "0 wrong" "$(cat "$tmp/out")"
[ "$first" != "$estimate" ] || say "ptxas counts what the estimate does: $first"
expect "kernels" 2 "$(echo "$first" | wc -w)"
WARPAGE_IN_STEP=always
export WARPAGE_IN_STEP
warps sim:v100 ptxas >/dev/null
expect "results in step" "0 wrong" "$(cat "$tmp/out")"
unset WARPAGE_IN_STEP

# A block that became predicates: warps issue it whether their lanes take it or not; only its three accesses are made
# by those that do.
cat >"$tmp/guarded.cu" <<'SOURCE'
#include <cstdlib>
__global__ void guarded(int *out, const int *in, int least) {
    __shared__ int shared[64];
    const int t = threadIdx.x;
    shared[t] = in[t];
    __syncthreads();
    if (in[t] > least) shared[t] = shared[t] * 3 + shared[63 - t] * 5;
    __syncthreads();
    out[blockIdx.x * 64 + t] = shared[t];
}
int main(int, char **argv) {
    int *in, *out;
    cudaMallocManaged(&in, 64 * sizeof *in);
    cudaMallocManaged(&out, 256 * sizeof *out);
    for (int i = 0; i < 64; i++) in[i] = i;
    guarded<<<4, 64>>>(out, in, atoi(argv[1]));
    return cudaDeviceSynchronize() != cudaSuccess;
}
SOURCE
"$wpcc" "$tmp/guarded.cu" -o "$tmp/guarded" || exit 1
for device in sim:p100 sim:v100; do
    taken=$(warps $device ptxas guarded -1)
    left=$(warps $device ptxas guarded 64)
    expect "$device, a block of predicates" "$taken" "$((left + 3 * 8))"
    [ "$(warps $device estimate guarded -1)" -gt "$(($(warps $device estimate guarded 64) + 3 * 8))" ] ||
        say "$device: an estimate has no predicates"
done

refused() { # sentence, device
    "$bin/warpage" run --device "$2" --set sm.code=ptxas "$tmp/x" >"$tmp/out" 2>&1 && say "$2 ran"
    grep -q "$1" "$tmp/out" || say "no sentence '$1': $(cat "$tmp/out")"
}
if [ -x "$ptxas11" ]; then
    WARPAGE_PTXAS=$ptxas11
    warps sim:k80 ptxas >/dev/null
    expect "results on Kepler" "0 wrong" "$(cat "$tmp/out")"
    WARPAGE_PTXAS=$ptxas12
fi
refused "machine code of sm_30 cannot be read" sim:gtx680
cat >"$tmp/none" <<'SCRIPT'
#!/bin/sh
echo "ptxas fatal: no such architecture"
exit 1
SCRIPT
chmod +x "$tmp/none"
WARPAGE_PTXAS=$tmp/none XDG_CACHE_HOME=$tmp
export XDG_CACHE_HOME
refused "no such architecture" sim:p100
refused "it has to be of CUDA 11" sim:k80
exit $failed

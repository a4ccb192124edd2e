# SPDX-License-Identifier: Apache-2.0
# Kernels that kernels launched: in the report with the one that launched them, on cpu and a simulated GPU, whose
# gpu.nested_launch_latency counts; what cannot be: a trace, a GPU without NVIDIA's device runtime.
set -e
cd "$TMP"
cat >tree.cu <<'END'
#include <cstdio>
__global__ void leaf(int *sum) { atomicAdd(sum, 1); }
__global__ void node(int *sum, int depth)
{
    if (depth == 0)
        leaf<<<1, 1>>>(sum);
    else
        node<<<2, 1>>>(sum, depth - 1);
}
int main()
{
    int *sum, host = 0;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    node<<<1, 1>>>(sum, 3);
    cudaError_t error = cudaMemcpy(&host, sum, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %s\n", host, cudaGetErrorName(error));
    return host != 8;
}
END
"$WPCC" tree.cu -o tree 2>talk
grep -q "no code for NVIDIA GPUs: .*needs NVIDIA's device runtime (cudadevrt)" talk || { cat talk; exit 1; }
for device in cpu sim:p100; do
    "$WARPAGE" run --device $device -- ./tree >said 2>&1 || { cat said; exit 1; }
    grep -q "^8 cudaSuccess" said
    [ "$(grep -A1 '^  leaf  *8 ' said | tail -n 1)" = "    launched by node" ] || { cat said; exit 1; }
    grep -q '^  node  *8 ' said || { cat said; exit 1; }
done
# Five grids follow each other: 40 ms of latency show, 0 ns do not.
time_of() { "$WARPAGE" run --device sim:p100 --set gpu.nested_launch_latency=$1 -- ./tree 2>&1 | sed -n 's/^  simulated time *//p'; }
case $(time_of 10ms) in 4[0-9].*ms) ;; *) time_of 10ms; exit 1 ;; esac
case $(time_of 0ns) in *us) ;; *) time_of 0ns; exit 1 ;; esac
"$WARPAGE" trace record --device sim:p100 -o tree.wpt -- ./tree >said 2>talk && { echo "a trace was recorded"; exit 1; }
grep -q "was launched by a kernel; a trace holds launches by the host only" talk said || { cat said talk; exit 1; }
# Blocks that left their SM while they waited for kernels are counted; two runs give the same bytes.
"$WPCC" "$E2E/nested_swapped.cu" -o swapped 2>talk
for run in 1 2; do "$WARPAGE" run --device sim:p100 --output $run -- ./swapped >said 2>&1 || { cat said; exit 1; }; done
cmp 1/report.json 2/report.json
[ "$(grep -c '"swapped_blocks": [1-9]' 1/report.json)" = 2 ] || { cat 1/report.json; exit 1; }
grep -q '^    [1-9][0-9]* times a block left its SM while it waited for kernels$' 1/report.txt || { cat 1/report.txt; exit 1; }

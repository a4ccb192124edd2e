# SPDX-License-Identifier: Apache-2.0
# -maxrregcount bounds the registers of kernels without __launch_bounds__, also as an option of ptxas: a block of
# 1,024 threads of a kernel that takes many then fits a simulated GPU, and the PTX says so. The number of blocks in
# __launch_bounds__ bounds them, too. -Xptxas -v and --resource-usage print what kernels take, as cudaFuncGetAttributes
# has it.
set -e
cd "$TMP"
cat >program.cu <<'END'
#include <stdio.h>
__global__ void many(double *p)
{
    double v[48];
    #pragma unroll
    for (int i = 0; i < 48; i++) v[i] = p[threadIdx.x + i * 64];
    for (int r = 0; r < (int)p[0]; r++)
        #pragma unroll
        for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i + 7) % 48] + 1.0;
    #pragma unroll
    for (int i = 0; i < 48; i++) p[threadIdx.x + i * 64] = v[i];
}
__global__ void __launch_bounds__(64) bounded(double *p)
{
    double v[48];
    #pragma unroll
    for (int i = 0; i < 48; i++) v[i] = p[threadIdx.x + i * 64];
    for (int r = 0; r < (int)p[0]; r++)
        #pragma unroll
        for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i + 7) % 48] + 1.0;
    #pragma unroll
    for (int i = 0; i < 48; i++) p[threadIdx.x + i * 64] = v[i];
}
int main(void)
{
    cudaFuncAttributes a, b;
    if (cudaFuncGetAttributes(&a, many) != cudaSuccess || cudaFuncGetAttributes(&b, bounded) != cudaSuccess) return 1;
    printf("%d %d\n", a.numRegs, b.numRegs);
    return 0;
}
END
export WARPAGE_DEVICE=sim:k80
"$WPCC" program.cu -o program
set -- $(./program)
[ "$1" -gt 64 ] && [ "$2" -gt 64 ] || { echo "the kernels take few registers: $*"; exit 1; }
for option in -maxrregcount=32 "-maxrregcount 32" "-Xptxas --maxrregcount=32" "-Xptxas=-v,-maxrregcount=32"; do
    "$WPCC" $option program.cu -o program
    set -- $(./program)
    [ "$1" = 32 ] || { echo "$option: $1 registers"; exit 1; }
    [ "$2" -gt 64 ] || { echo "$option: $2 registers in spite of __launch_bounds__"; exit 1; }
done
sed 's/__launch_bounds__(64)/__launch_bounds__(64, 24)/' program.cu >blocks.cu # of 65,536 registers
"$WPCC" blocks.cu -o program
[ "$(./program | cut -d' ' -f2)" = 40 ] || { echo "24 blocks of an SM: $(./program) registers"; exit 1; }
"$WPCC" -rdc=true -maxrregcount=40 -c program.cu -o program.o
"$WPCC" -rdc=true program.o -o program
[ "$(./program | cut -d' ' -f1)" = 40 ] || { echo "separate compilation: $(./program) registers"; exit 1; }
"$WPCC" -maxrregcount=32 -ptx program.cu -o program.ptx
[ "$(grep -c '^\.maxnreg 32' program.ptx)" = 1 ] || { echo "the PTX has no .maxnreg"; grep -n maxn program.ptx; exit 1; }
for value in x 1x 2000 -1; do
    "$WPCC" -maxrregcount=$value program.cu -o program 2>message && { echo "-maxrregcount=$value is taken"; exit 1; }
    grep -q 'is a number of registers' message || { cat message; exit 1; }
done
taken=$("$WPCC" program.cu -o program && ./program | cut -d' ' -f1)
for option in --resource-usage -res-usage "-Xptxas -v" "-Xptxas -O3,-v" --ptxas-options=-v; do
    "$WPCC" $option -c program.cu -o program.o 2>message
    grep -q "^wpcc: _Z4manyPd: about $taken registers, 0 bytes of shared memory, 0 of local memory$" message ||
        { echo "$option, $taken registers:"; cat message; exit 1; }
    [ "$(wc -l <message)" = 2 ] || { echo "$option: not a line a kernel"; cat message; exit 1; }
done
"$WPCC" -Xptxas -O3 -c program.cu -o program.o 2>message && [ ! -s message ] || { cat message; exit 1; }
exit 0

# SPDX-License-Identifier: Apache-2.0
# --stream-library makes a library of one streamed kernel; kernels that use variables of the program are refused.
cat >k.cu <<'END'
__device__ int bias;
__constant__ int table[4];
static __device__ int hits;
__device__ __noinline__ int helper(int x) { return x + hits++; }
__device__ __noinline__ int twice(int x) { return x * 2; }
__global__ void plain(const int *in, int *out, int count)
{
    __shared__ int part[32];
    part[threadIdx.x] = twice(in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = part[(threadIdx.x + count) % 32];
}
namespace ns {
__global__ void biased(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + bias; }
}
__global__ void looked_up(int *out) { out[threadIdx.x] = table[threadIdx.x]; }
__global__ void counting(const int *, int *out) { out[0] = helper(1); }
END
wpcc -fatbin k.cu -o image
make() {
    echo "$@"
    wpcc "$@" 2>&1
    echo "exit status $?"
    [ ! -e library.so ] || nm -D --defined-only library.so | sed 's/^.* //'
    rm -f library.so
}
make --stream-library=_Z5plainPKiPii:3 image -o library.so
make --stream-library=_ZN2ns6biasedEPKiPi:1 image -o library.so
make --stream-library=_Z9looked_upPi:1 image -o library.so
make --stream-library=_Z8countingPKiPi:3 image -o library.so
make --stream-library=_Z5plainPKiPii:4 image -o library.so
make --stream-library=_Z5plainPKiPi:1 image -o library.so
make --stream-library=plain image -o library.so
make --stream-library=plain:0 image -o library.so
make --stream-library=plain:1 image
make --stream-library=_Z5plainPKiPii:3 image --cpu-isa=baseline -o library.so
make --stream-library=plain:1 image --cpu-isa=avx9 -o library.so
make --stream-library=plain:1 image -O2 -o library.so
head -c 100 image >short
make --stream-library=plain:1 short -o library.so
make --stream-library=plain:1 none -o library.so
ls

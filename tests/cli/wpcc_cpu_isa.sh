# SPDX-License-Identifier: Apache-2.0
# --cpu-isa: CPU code for one kind of processor, or for all; the variables are there with each.
cat >a.cu <<'END'
#include <cstdio>
__device__ int base = 40;
__managed__ int result;
__global__ void add(int n) { result = base + n; }
int main()
{
    add<<<1, 1>>>(2);
    const cudaError_t error = cudaGetLastError();
    cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    printf("%d\n", result);
}
END
unset NVCC_PREPEND_FLAGS # tests compile for this processor
wpcc a.cu -o a && echo "default: $(./a) $(WARPAGE_CPU_ISA=baseline ./a)"
for isa in all native baseline x86-64-v3; do
    wpcc --cpu-isa "$isa" a.cu -o a && echo "$isa: $(./a) $(WARPAGE_DEVICE=sim:gtx1080ti ./a)"
done
WARPAGE_CPU_ISA=baseline ./a
for isa in all baseline; do
    wpcc --cpu-isa=x86-64-v3 --cpu-isa=$isa a.cu -o a
    WARPAGE_CPU_ISA=baseline ./a
done
ls
wpcc --cpu-isa=avx9 a.cu -o b

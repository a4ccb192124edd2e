# SPDX-License-Identifier: Apache-2.0
# A header or library of NVIDIA's that is not there: after clang's or the linker's error, what it belongs to and how to get it.
export XDG_DATA_HOME=$PWD/data
for header in nvblas.h curand_mtgp32_host.h cufftw.h cusparseLt.h cusolverRf.h thrust/sort.h cub/cub.cuh cuda/barrier \
    cutlass/gemm.h cooperative_groups/details/info.h nvtx3/nvtx3.hpp own.h; do
    echo "#include <$header>" >a.cu
    wpcc -c a.cu 2>&1 | grep -v '^ .*|\|generated'
done
echo '#include <cufftw.h>' >b.cpp
wpcc -c b.cpp 2>&1 | tail -n 1
echo 'int main() { return 0; }' >c.cu
wpcc c.cu -lcutensor -lown 2>&1 | grep -c 'cannot find -l'
wpcc c.cu -lcutensor -lown 2>&1 | grep note
ls

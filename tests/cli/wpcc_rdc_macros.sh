# SPDX-License-Identifier: Apache-2.0
# Relocatable device code is defined as nvcc does, without the dynamic parallelism that CUB has in it then.
cat >macros.cu <<'C'
#if defined(__CUDACC_RDC__) && defined(CUB_DISABLE_CDP)
int relocatable;
#elif defined(__CUDACC_RDC__) || defined(CUB_DISABLE_CDP)
int one_without_the_other;
#else
int whole;
#endif
#define CUB_DISABLE_CDP // as a program may
C
wpcc -rdc=true -E macros.cu | tail -n 1
wpcc -E macros.cu | tail -n 1

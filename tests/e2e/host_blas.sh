# SPDX-License-Identifier: Apache-2.0
# On `cpu` products of matrices are the host's BLAS'. An OpenBLAS that does not know the processor, and chose the kernels of
# 2004 for it, is loaded again with those that the processor can run, unless the user has chosen.
set -e
cd "$TMP"
# A library whose products are the kernels' number: 1 for Prescott, 2 for any that is asked for by name.
cat >blas.c <<'END'
#include <stdlib.h>
#include <string.h>
static char core[32] = "Prescott";
__attribute__((constructor)) static void choose(void)
{
    const char *name = getenv("OPENBLAS_CORETYPE");
    if (name != NULL) strncpy(core, name, sizeof core - 1);
}
char *openblas_get_corename(void) { return core; }
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                 float beta, float *c, int ldc)
{
    (void)order, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta,
        (void)ldc;
    c[0] = strcmp(core, "Prescott") == 0 ? 1 : 2;
}
void cblas_dgemm(void) { }
void cblas_cgemm(void) { }
void cblas_zgemm(void) { }
END
cat >product.cu <<'END'
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    float *m, one = 1, zero = 0, value = 3;
    cublasHandle_t handle;
    cudaMalloc(&m, 3 * sizeof *m);
    for (int i = 0; i < 2; i++) cudaMemcpy(m + i, &value, sizeof value, cudaMemcpyHostToDevice);
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, m, 1, m + 1, 1, &zero, m + 2, 1);
    cudaMemcpy(&value, m + 2, sizeof value, cudaMemcpyDeviceToHost);
    printf("%g %s\n", value, getenv("OPENBLAS_CORETYPE") != NULL ? "named" : "not named");
    return 0;
}
END
cc -shared -fPIC blas.c -o libopenblas.so.0
"$WPCC" product.cu -lcublas -o product
unset OPENBLAS_CORETYPE
export LD_LIBRARY_PATH="$TMP${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
expect() { # what is printed
    [ "$(WARPAGE_DEVICE=cpu ./product)" = "$1" ] || { echo "not $1"; exit 1; }
}
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
    expect "2 not named"
else
    expect "1 not named"
fi
export OPENBLAS_CORETYPE=Prescott
expect "1 named"
export WARPAGE_HOST_LIBRARIES=off
expect "9 named"

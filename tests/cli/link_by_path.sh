# SPDX-License-Identifier: Apache-2.0
# The libraries of the toolkit's folder link by their paths alone, as CMake's builds name them.
lib64=$(dirname "$(command -v wpcc)")/../lib/warpage/cuda/lib64
cat >link.c <<'C'
int cuInit(unsigned int flags), nvrtcVersion(int *major, int *minor), cublasGetVersion_v2(void *handle, int *version);
int main(void) { int a, b; return cuInit(0) || nvrtcVersion(&a, &b) || cublasGetVersion_v2(0, &a); }
C
for libraries in libcuda.so stubs/libcuda.so libnvrtc.so libcudart_static.a; do
    env -u LIBRARY_PATH gcc link.c "$lib64/$libraries" "$lib64/libcublas_static.a" -o link && echo "$libraries"
done
# Programs that open the driver API's library themselves.
cat >open.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("libcuda.so", RTLD_NOW);
    int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : 0;
    printf("cuInit %d\n", init ? init(0) : -1);
    int (*export)(void **) = library ? (int (*)(void **))dlsym(library, "cuMemPoolExportPointer") : 0;
    void *handle;
    printf("cuMemPoolExportPointer %d\n", export ? export(&handle) : -1);
    return 0;
}
C
gcc open.c -o open && LD_LIBRARY_PATH=$lib64 ./open

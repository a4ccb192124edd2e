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

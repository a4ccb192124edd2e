# SPDX-License-Identifier: Apache-2.0
# Modules of the driver API, from each form that wpcc writes, on cpu, a simulated GPU and the stand-in for NVIDIA's
# driver: functions, variables of all kinds, arguments, unloading; and what is damaged or of another compiler.
set -e
cd "$TMP"
cat >module.cu <<'END'
__device__ int counter = 5;
__constant__ float scale = 2.0f;
__managed__ int total = 3;
struct pair { int a; double b; };
extern "C" __global__ void saxpy(float *y, const float *x, char odd, pair p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += scale * x[i] + p.a + (float)p.b + odd;
    if (i == 0) { counter++; total += 10; }
}
END
cat >host.cu <<'END'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(call) do { CUresult r = (call); if (r) { const char *s; cuGetErrorName(r, &s); \
    printf("line %d: %s\n", __LINE__, s); exit(1); } } while (0)
#define IS(a, b) do { if ((a) != (b)) { printf("line %d: %g, not %g\n", __LINE__, (double)(a), (double)(b)); exit(1); } } while (0)
struct pair { int a; double b; };
enum { N = 300 };
static float x[N], y[N];

static int read_int(CUmodule m, const char *name)
{
    CUdeviceptr at;
    size_t bytes;
    int value;
    OK(cuModuleGetGlobal(&at, &bytes, m, name));
    IS(bytes, sizeof value);
    OK(cuMemcpyDtoH(&value, at, sizeof value));
    return value;
}

static void use(CUmodule m, float factor)
{
    CUfunction f, missing;
    CUmodule owner;
    CUdeviceptr dx, dy, at;
    char odd = 3;
    pair p = {4, 0.5};
    int n = N;
    size_t offset, size;
    const char *name;
    OK(cuModuleGetFunction(&f, m, "saxpy"));
    IS(cuModuleGetFunction(&missing, m, "nothing"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetGlobal(&at, NULL, m, "nothing"), CUDA_ERROR_NOT_FOUND);
    OK(cuFuncGetModule(&owner, f));
    IS(owner == m, true);
    unsigned count = 9;
    CUfunction listed[2] = {};
    CUfunctionLoadingState state;
    OK(cuFuncLoad(f));
    OK(cuFuncIsLoaded(&state, f));
    IS(state, CU_FUNCTION_LOADING_STATE_LOADED);
    const char *device = getenv("WARPAGE_DEVICE");
    if (device && device[0] == 'c' && device[1] == 'u') { /* not listed by a GPU */
        IS(cuModuleGetFunctionCount(&count, m), CUDA_ERROR_NOT_SUPPORTED);
    } else {
        OK(cuModuleGetFunctionCount(&count, m));
        IS(count, 1);
        OK(cuModuleEnumerateFunctions(listed, 2, m));
        IS(listed[0] == f, true);
        IS(listed[1] == NULL, true);
        CUlibrary library = (CUlibrary)(void *)m, of_kernel;
        CUkernel kernel = NULL;
        OK(cuLibraryGetKernelCount(&count, library));
        IS(count, 1);
        OK(cuLibraryEnumerateKernels(&kernel, 1, library));
        OK(cuKernelGetLibrary(&of_kernel, kernel));
        IS(of_kernel == library, true);
        IS(cuModuleEnumerateFunctions(NULL, 2, m), CUDA_ERROR_INVALID_VALUE);
    }
    OK(cuFuncGetName(&name, f));
    IS(name[0], 's');
    OK(cuFuncGetParamInfo(f, 3, &offset, &size));
    IS(offset, 24); IS(size, sizeof(pair));
    OK(cuFuncGetParamInfo(f, 4, &offset, &size));
    IS(offset, 40); IS(size, sizeof n);
    OK(cuModuleGetGlobal(&at, &size, m, "scale"));
    OK(cuMemcpyHtoD(at, &factor, sizeof factor));
    OK(cuMemAlloc(&dx, sizeof x)); OK(cuMemAlloc(&dy, sizeof y));
    OK(cuMemcpyHtoD(dx, x, sizeof x)); OK(cuMemsetD32(dy, 0, N));
    void *args[] = {&dy, &dx, &odd, &p, &n};
    OK(cuLaunchKernel(f, (N + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(y, dy, sizeof y));
    for (int i = 0; i < N; i++) IS(y[i], factor * x[i] + 4 + 0.5f + 3);
    OK(cuMemFree(dx)); OK(cuMemFree(dy));
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule m, same;
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    OK(cuInit(0)); OK(cuCtxCreate(&context, 0, 0));
    for (int i = 0; i < N; i++) x[i] = i;
    for (int a = 1; a < argc; a++) {
        CUresult loaded = cuModuleLoad(&m, argv[a]);
        if (loaded != CUDA_SUCCESS) {
            const char *s;
            cuGetErrorName(loaded, &s);
            printf("%s: %s\n", argv[a], s);
            continue;
        }
        IS(read_int(m, "counter"), 5); IS(read_int(m, "total"), 3);
        use(m, 2), use(m, 3);
        IS(read_int(m, "counter"), 7); IS(read_int(m, "total"), 23);
        OK(cuModuleLoad(&same, argv[a])); /* the same module */
        IS(read_int(same, "counter"), 7);
        OK(cuModuleUnload(same));
        use(m, 4);
        OK(cuModuleUnload(m));
        IS(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
        OK(cuModuleLoad(&m, argv[a])); /* a new one */
        IS(read_int(m, "counter"), 5);
        OK(cuModuleUnload(m));
        OK(cuLibraryLoadFromFile(&library, argv[a], NULL, NULL, 0, NULL, NULL, 0));
        OK(cuLibraryGetKernel(&kernel, library, "saxpy")); OK(cuKernelGetFunction(&f, kernel));
        OK(cuLibraryGetModule(&m, library));
        use(m, 1);
        OK(cuLibraryUnload(library));
        printf("%s: right\n", argv[a]);
    }
    return 0;
}
END
"$WPCC" host.cu -o host -lcuda
"$WPCC" -ptx module.cu -o module.ptx
"$WPCC" -cubin module.cu -o module.cubin
"$WPCC" -fatbin module.cu -o module.fatbin
fake=$(cd "$(dirname "$WPCC")/../tests" && pwd)/libfake_cuda.so
for device in cpu sim:gtx1080ti cuda:0; do
    WARPAGE_DEVICE=$device WARPAGE_LIBCUDA=$fake ./host module.ptx module.cubin module.fatbin >said 2>talk ||
        { echo "on $device:"; cat said talk; exit 1; }
    printf 'module.ptx: right\nmodule.cubin: right\nmodule.fatbin: right\n' | diff - said
    [ ! -s talk ] || { cat talk; exit 1; }
done
# Damaged, changed, foreign.
sed '/wp-image: end/d' module.ptx >cut.ptx
sed 's/counter = 5/counter = 6/' module.ptx >changed.ptx
sed "/wp-image/,\$d; s/fma.rn.f32/frob.f32/" module.ptx >foreign.ptx
head -c 300 module.cubin >cut.cubin
./host cut.ptx changed.ptx foreign.ptx cut.cubin >said 2>talk
cat >wanted <<'END'
cut.ptx: CUDA_ERROR_INVALID_IMAGE
changed.ptx: CUDA_ERROR_INVALID_IMAGE
foreign.ptx: CUDA_ERROR_NO_BINARY_FOR_GPU
cut.cubin: CUDA_ERROR_INVALID_IMAGE
END
diff wanted said
[ "$(wc -l <talk)" = 4 ] || { cat talk; exit 1; }
grep -q 'instruction "frob.f32 .* is not understood (in saxpy)' talk && grep -q 'changed after wpcc wrote it' talk || { cat talk; exit 1; }

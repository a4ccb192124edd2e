# SPDX-License-Identifier: Apache-2.0
# wpcc by the name ptxas, as compilers that make PTX at run time start it: what it makes is loaded by the driver. Device
# files that such compilers look for, and libraries that they open at start.
set -e
cd "$TMP"
toolkit=$(cd "${WARPAGE%/*}/../lib/warpage/cuda" && pwd)
ptxas=$toolkit/bin/ptxas
cat >kernel.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 value)
.reqntid 64, 1, 1
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [value];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
END
cat >load.c <<'END'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(call) do { if (call) { printf("line %d\n", __LINE__); exit(1); } } while (0)
int main(int argc, char **argv)
{
    CUdevice device; CUcontext context; CUmodule module; CUfunction fill; CUdeviceptr out;
    unsigned value = 7, got[64];
    void *args[] = {&out, &value};
    OK(argc != 2); OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuCtxCreate(&context, 0, device));
    OK(cuModuleLoad(&module, argv[1])); OK(cuModuleGetFunction(&fill, module, "fill"));
    OK(cuMemAlloc(&out, sizeof got));
    OK(cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < 64; i++) OK(got[i] != 7);
    puts("64 of 64");
}
END
"$WPCC" -x c load.c -o load -lcuda

# No extension, options of NVIDIA's ptxas, and the name without a folder.
cp kernel.ptx made
PATH=$toolkit/bin:$PATH ptxas made -o made.cubin -arch=sm_80 --warn-on-spills -O3 -v --gpu-name sm_80
for device in cpu sim:p100; do
    [ "$(WARPAGE_DEVICE=$device ./load made.cubin)" = "64 of 64" ] || exit 1
done
"$ptxas" --version | grep -q 'release [0-9]*\.[0-9]*, V[0-9]' || exit 1
"$ptxas" --help | grep -q '^Usage: ptxas' || exit 1

# Our ptxas is not taken for NVIDIA's.
echo '__global__ void k(int *p) { *p = 1; } int main() { return 0; }' >k.cu
PATH=$toolkit/bin:/usr/bin:/bin "$WPCC" k.cu -o k

refuse() { # status, part of the sentence, arguments
    status=0
    said=$("$ptxas" $3 2>&1) || status=$?
    case $status:$said in
    $1:*"$2"*) ;;
    *) echo "ptxas $3: $status, $said"; exit 1 ;;
    esac
}
printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\n\tfrobnicate.u32 %%r1;\n}\n' >bad.ptx
refuse 2 'which file of PTX?' ''
refuse 2 'one file of PTX at a time' 'kernel.ptx kernel.ptx'
refuse 2 '-o needs a value' 'kernel.ptx -o'
refuse 1 'no such file' 'nothing.ptx -o x.cubin'
refuse 1 'frobnicate' 'bad.ptx -o x.cubin'
[ ! -e x.cubin ] || exit 1

# LLVM's code of mathematical functions, where toolkits have it.
[ "$(head -c 2 "$toolkit/nvvm/libdevice/libdevice.10.bc")" = BC ] || exit 1
# The folders by their names since CUDA 5.
[ -f "$toolkit/targets/x86_64-linux/include/cuda_runtime.h" ] || exit 1
[ -e "$toolkit/targets/x86_64-linux/lib/libcudart.so" ] || exit 1

cat >look.py <<'END'
import ctypes, os, stat
names = ["/dev/nvidia0", "/dev/nvidiactl"]
print([os.path.exists(name) and stat.S_ISCHR(os.stat(name).st_mode) for name in names], os.path.exists("/dev/nvidia99"),
      os.path.exists("/dev/null"), os.path.exists("/nothing"))
cudnn, cupti = ctypes.CDLL("libcudnn.so.9"), ctypes.CDLL("libcupti.so.12")
handle, stream, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
print(cudnn.cudnnCreate(ctypes.byref(handle)), cudnn.cudnnSetStream(handle, ctypes.c_void_p(2)),
      cudnn.cudnnGetStream(handle, ctypes.byref(stream)), stream.value, cudnn.cudnnDestroy(handle))
print([(cudnn.cudnnGetProperty(i, ctypes.byref(value)), value.value) for i in range(2)], cudnn.cudnnGetProperty(3, None))
print(cudnn.cudnnCreateAttnDescriptor(None), cupti.cuptiGetVersion(ctypes.byref(value)), value.value > 0,
      cupti.cuptiGetVersion(None))
print(os.environ["XLA_FLAGS"], os.environ["CUDA_ROOT"])
print(os.environ["TRITON_PTXAS_PATH"])
END
XLA_FLAGS=--one "$WARPAGE" run -- python3 look.py >look.out 2>look.err
cat >look.expected <<END
[True, True] False True False
0 0 0 2 0
[(0, 9), (0, 99)] 2000
3000 0 True 1
--one --xla_gpu_cuda_data_dir=$toolkit $toolkit
$toolkit/bin/ptxas
END
grep -q 'cudnnCreateAttnDescriptor is not supported' look.err || exit 1
sed -n 1,6p look.out | sed "s|[^ =]*/lib/warpage/cuda|$toolkit|g" | diff - look.expected
XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr "$WARPAGE" run -- python3 -c 'import os; print(os.environ["XLA_FLAGS"])' |
    grep -qx -- --xla_gpu_cuda_data_dir=/usr
[ "$(CUDA_ROOT=/usr "$WARPAGE" run -- printenv CUDA_ROOT | sed -n 1p)" = /usr ]
[ "$(TRITON_PTXAS_PATH=/usr "$WARPAGE" run -- printenv TRITON_PTXAS_PATH | sed -n 1p)" = /usr ]

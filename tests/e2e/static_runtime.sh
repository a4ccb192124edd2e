# SPDX-License-Identifier: Apache-2.0
# Programs with a CUDA runtime inside, as nvcc links them by default: `warpage run` replaces its functions. The runtime
# here is a stand-in whose functions all fail, as NVIDIA's do without NVIDIA's driver.
set -e
cd "$TMP"
folder=$(cd "${WARPAGE%/*}/../lib/warpage/nvidia" && pwd)
cat >module.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 calls = 3;
.visible .entry reverse(.param .u64 reverse_param_0, .param .u32 reverse_param_1)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [reverse_param_0];
	ld.param.u32 %r1, [reverse_param_1];
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 ret;
	mov.u64 %rd2, calls;
	atom.global.add.u32 %r3, [%rd2], 1;
	cvta.to.global.u64 %rd3, %rd1;
	mul.wide.u32 %rd4, %r2, 4;
	add.s64 %rd5, %rd3, %rd4;
	add.s32 %r4, %r2, %r2;
	st.global.u32 [%rd5], %r4;
	ret;
}
END
cat >program.cu <<'END'
#include <stdio.h>
__device__ int calls;
extern "C" __global__ void reverse(int *data, int n) {}
extern "C" int cudaCheckOfMine(int x) { return x + 1; } /* a name like the runtime's, but the program's */
extern "C" cudaError_t cudaOnlyInside(void);
int program()
{
    int *data, counted = 0;
    cudaError_t error = cudaMallocManaged(&data, 101 * sizeof *data);
    if (error == cudaSuccess) {
        reverse<<<1, 128>>>(data, 101);
        error = cudaDeviceSynchronize();
        cudaMemcpyFromSymbol(&counted, calls, sizeof counted);
    }
    printf("error %d, %d, %d calls, %d\n", error, error == cudaSuccess ? data[100] : 0, counted,
           cudaCheckOfMine(41));
    fflush(stdout);
    return error;
}
#ifdef MISSING
int missing = cudaOnlyInside();
#endif
END
printf '#include <stdio.h>\nint program(); int main() { return program(); }\n' >main.cpp
cat >fat.py <<'END'
import struct, sys
text = open(sys.argv[1], "rb").read() + b"\0"
text += bytes(-len(text) % 8)
entry = struct.pack("<HHIQIIIIQQQQ", 1, 0x101, 64, len(text), 0, 0, 0, 70, 0, 0x11, 0, 0)
open(sys.argv[2], "wb").write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, 64 + len(text)) + entry + text)
END
python3 fat.py module.ptx fatbin
for flags in "" -DMISSING; do
    "$WPCC" -Xcompiler -fPIC $flags -c program.cu -o plain.o
    objcopy --update-section .nv_fatbin=fatbin plain.o program$flags.o
done

# The stand-in: what the program calls, and what tells versions apart. The functions are shorter than the code that
# replaces them, but aligned.
inside() { # archive, further functions...
    name=$1
    shift
    { nm -u program-DMISSING.o program.o | sed -n 's/.* \(_*cuda[A-Za-z]*\)$/\1/p' | sort -u
      printf '%s\n' cudaStreamCreate "$@"; } | LC_ALL=C sort | while read -r function; do
        case $function in *OnlyInside) body="volatile int a = 1, b = 2, c = 3, d = a + b + c;" ;; *) body= ;; esac
        echo "__attribute__((visibility(\"hidden\"), aligned(16))) int $function(void) { $body return 35; }"
    done >inside.c
    gcc -O1 -fPIC -w -fno-builtin -c inside.c -o inside.o
    rm -f "$name"
    ar rc "$name" inside.o
}
inside twelve.a cudaGetDeviceProperties_v2
inside thirteen.a cudaDeviceGetHostAtomicCapabilities
inside eleven.a

good="error 0, 200, 104 calls, 42"
runs() { # what to expect, program: with warpage
    "$WARPAGE" run -- "$2" >said 2>talk || [ "$1" != "$good" ] || { cat said talk; exit 1; }
    [ "$(cat said)" = "$1" ] || { echo "$2 printed:"; cat said talk; exit 1; }
}
export LD_LIBRARY_PATH="$folder" # objects of wpcc need libwarpage besides
for version in eleven twelve thirteen; do
    g++ main.cpp program.o $version.a "$folder/libwarpage.so.0" -o $version
    ./$version >said 2>&1 && { echo "the stand-in works"; exit 1; }
    grep -q ', 0, 0 calls, 42' said || { cat said; exit 1; }
    runs "$good" ./$version
    [ "$(grep -c 'reverse  *1  *128' talk)" = 1 ] || { cat talk; exit 1; }
done
g++ -no-pie main.cpp program.o twelve.a "$folder/libwarpage.so.0" -o fixed
runs "$good" ./fixed
WARPAGE_DEVICE=sim:gtx1080ti runs "$good" ./fixed
# started by something else
"$WARPAGE" run -- sh -c './fixed && ./twelve' >said 2>talk
[ "$(grep -c "$good" said)" = 2 ] || { cat said talk; exit 1; }
LD_PRELOAD="$folder/libcudart_static.so" ./fixed >said
[ "$(cat said)" = "$good" ] || { cat said; exit 1; }
# in a shared library
g++ -shared program.o thirteen.a "$folder/libwarpage.so.0" -o libprogram.so
g++ main.cpp -o linked ./libprogram.so "$folder/libwarpage.so.0"
runs "$good" ./linked
# in a shared library that is loaded later, whose constructors use the runtime
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("./libprogram.so", RTLD_NOW | RTLD_LOCAL);
    int (*program)(void) = library ? (int (*)(void))dlsym(library, "_Z7programv") : 0;
    if (!program) puts(dlerror());
    return program ? program() : 1;
}
END
gcc loads.c -o loads
runs "$good" ./loads
# Many kernels: only those that run are translated, so that one which cannot be does no harm. The variable is one.
python3 - <<'END'
with open("module.ptx") as f:
    text = f.read()
body = "\tmov.u32 %r1, %tid.x;\n" * 500
for i in range(30):
    text += f".visible .entry other_{i}()\n{{\n\t.reg .b32 %r<3>;\n{body}\tret;\n}}\n"
text += ".visible .entry unknown()\n{\n\tno.such.instruction;\n\tret;\n}\n"
with open("many.ptx", "w") as f:
    f.write(text)
END
python3 fat.py many.ptx fatbin-many
objcopy --update-section .nv_fatbin=fatbin-many plain.o program-many.o
g++ main.cpp program-many.o twelve.a "$folder/libwarpage.so.0" -o many
runs "$good" ./many
WARPAGE_DEVICE=sim:gtx1080ti runs "$good" ./many
# An address sanitizer in the program starts behind what is preloaded.
if g++ -fsanitize=address main.cpp program.o twelve.a "$folder/libwarpage.so.0" -o sanitized 2>/dev/null; then
    ASAN_OPTIONS=detect_leaks=0 runs "$good" ./sanitized
fi
# A function that libwarpage lacks: its name, once, and an error.
{ nm -u program-DMISSING.o | grep -q cudaOnlyInside; } || { echo "cudaOnlyInside is not called"; exit 1; }
g++ main.cpp program-DMISSING.o twelve.a "$folder/libwarpage.so.0" -o lacks
runs "$good" ./lacks
[ "$(grep -c 'cudaOnlyInside is not supported' talk)" = 1 ] || { cat talk; exit 1; }
# Without a symbol table there is nothing to go by.
strip fixed -o stripped
"$WARPAGE" run -- ./stripped >said 2>talk && { echo "the stripped program succeeded"; exit 1; }
grep -q ', 0, 0 calls, 42' said || { cat said talk; exit 1; }
# Damaged section headers do no harm.
python3 - <<'END'
data = bytearray(open("fixed", "rb").read())
for i, end in enumerate((0x28, 0x3a, 0x3c, 0x3e)):
    broken = bytearray(data)
    broken[end:end + 2] = b"\xff\xff"
    open(f"broken-{i}", "wb").write(broken)
END
for broken in broken-*; do
    chmod +x "$broken"
    "$WARPAGE" run -- "./$broken" >said 2>talk || true
    grep -q '42$' said || { echo "$broken:"; cat said talk; exit 1; }
done

# SPDX-License-Identifier: Apache-2.0
# The streamed form of a kernel is made once, kept, and is a module of every device; without wpcc, or for a kernel that
# wpcc refuses, the call fails with a message.
cd "$TMP" || exit 2
export WARPAGE_CACHE="$TMP/cache" WARPAGE_LOG=device.variant:info WARPAGE_WORKERS=2
build=$(cd "$(dirname "$WPCC")/.." && pwd)
cat >k.cu <<'END'
__device__ int bias;
__global__ void sum(const int *in, int count, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i] + 1;
}
__global__ void biased(const int *in, int *out) { atomicAdd(out, in[threadIdx.x] + bias); }
END
"$WPCC" -fatbin k.cu -o image || exit 1
fail() { echo "$1"; cat out talk; exit 1; }
run() { "$build/tests/stream_library" "$@" >out 2>talk; }

for talk in "made 'stream' with " 'stream-.*from the cache'; do
    run image _Z3sumPKiiPi 1 cpu sim:k80 || fail "no kernel"
    sed -n 1p talk | grep -q "$talk" || fail "not '$talk'"
    [ "$(sed -n 2,3p out)" = 'cpu: _Z3sumPKiiPi$stream1, 4 parameters
sim:k80: _Z3sumPKiiPi$stream1, 4 parameters' ] || fail "other kernels"
    [ "$(sed -n 1p out)" = 'one image' ] || fail "made for each call"
done
[ "$(find cache -name 'stream-*' | wc -l)" -eq 1 ] || fail "the cache holds $(ls cache)"
grep -q "trace-.* from the cache" talk || fail "the variant of the simulated GPU is not kept"
run image _Z3sumPKiiPi 5 cpu || fail "no other mask"
grep -q 'cpu: _Z3sumPKiiPi$stream5' out || fail "the other mask is not in the name"
[ "$(find cache -name 'stream-*' | wc -l)" -eq 2 ] || fail "the masks share a library"
WARPAGE_LIBCUDA="$build/tests/libfake_cuda.so" run image _Z3sumPKiiPi 1 cuda:0 || fail "not on a GPU"
WARPAGE_CPU_ISA=baseline run image _Z3sumPKiiPi 1 cpu || fail "no code for old processors"
for file in cache/stream-*.so; do
    truncate -s 4096 "$file"
done
run image _Z3sumPKiiPi 1 cpu || fail "a truncated library is not made again"
touch file
WARPAGE_CACHE="$TMP/file/cache" run image _Z3sumPKiiPi 1 cpu || fail "not made without a cache"

# A refusal of wpcc is reported in its words.
run image _Z6biasedPKiPi 1 cpu && fail "a variable of the program is streamed"
[ "$(cat talk)" = 'not supported: biased uses the variable bias: compile the program with --stream=biased:in' ] ||
    fail "not wpcc's sentence"

WARPAGE_WPCC=/nonexistent/wpcc run image _Z3sumPKiiPi 5 cpu && fail "no wpcc is needed"
[ "$(cat talk)" = "the compiler failed: WARPAGE_WPCC is '/nonexistent/wpcc', which is not a program: set it to wpcc, or compile the\
 program with --stream=_Z3sumPKiiPi:0,2" ] || fail "a missing wpcc is not told"
WARPAGE_WPCC=/bin/false run image _Z3sumPKiiPi 3 cpu && fail "/bin/false compiles"
grep -q '/bin/false could not compile the streamed form of _Z3sumPKiiPi' talk || fail "a failing wpcc is not told"
mkdir -p prefix/lib && cp "$build/lib/libwarpage.so.0" prefix/lib
cp -r "$build/tests/stream_library" prefix/lib
LD_LIBRARY_PATH=prefix/lib prefix/lib/stream_library image _Z3sumPKiiPi 1 cpu >out 2>talk && fail "no installed wpcc is needed"
grep -q "launches with mapped data need wpcc to compile kernels, but it is not at $TMP/prefix/bin/wpcc; compile the \
program with --stream=_Z3sumPKiiPi:0, install it there or set WARPAGE_WPCC" talk || fail "no remedy"
exit 0

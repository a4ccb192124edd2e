# SPDX-License-Identifier: Apache-2.0
# --stream adds a form of a kernel, which the user names as in the source; what it does not find it names.
cat >k.cu <<'END'
struct pair { int a, b; };
__global__ void assign(const float *points, int count, int *__restrict__ out, pair p) { out[threadIdx.x] = points[count] + p.a; }
namespace ns { namespace {
__global__ void hidden(int *x) { *x = 1; }
} template <class T> __global__ void scale(T *data, int n) { data[n] *= 2; }
template __global__ void scale<int>(int *, int);
template __global__ void scale<float>(float *, int);
}
static __global__ void local(int *y) { *y = 2; }
extern "C" __global__ void plain(int *, int *b) { *b = 1; }
__global__ void over(int *y) { *y = 2; }
__global__ void over(float *y) { *y = 2; }
int main(void) { ns::hidden<<<1, 1>>>(nullptr); local<<<1, 1>>>(nullptr); return 0; }
END
cat >other.cu <<'END'
__global__ void other(int *x) { *x = 1; }
END
ask() {
    echo "--stream=$1"
    wpcc -ptx k.cu "--stream=$1" -o k.ptx 2>&1
    code=$?
    [ $code -eq 0 ] || echo "exit status $code"
    [ ! -e k.ptx ] || sed -n 's/^.*\.entry \(.*\$stream[0-9a-f]*\)(.*/added \1/p' k.ptx
    rm -f k.ptx
}
for stream in assign:points,out assign:2 ns::scale\<int\>:data 'void ns::scale<float>(float*, int):data' _Z4overPf:y \
    'over(int *):0' local:y ns::hidden:x plain:1 \
    ns::scale:data over:y plain:a assign:count assign:p,out assign:4 nope:x assign assign: ns::assign assign:out,,points; do
    ask "$stream"
done
echo "two forms, and once more"
wpcc -ptx k.cu --stream=assign:out --stream=assign:points --stream=assign:0 -o - | grep -c 'entry.*stream'

echo "several files"
compile() {
    wpcc "$@" 2>talk
    code=$?
    grep '^wpcc' talk # the linker talks under sanitizers
    echo "exit status $code"
    ls -- *.o program 2>/dev/null
    [ ! -e program ] || grep -ao '_Z5otherPi$stream[0-9a-f]*' program | sort -u
    rm -f program
}
compile -c k.cu other.cu --stream=other:x
compile k.o other.o --stream=other:x -o program
compile k.cu other.cu --stream=other:x -o program
compile k.cu other.cu --stream=others:x -o program
compile k.cu other.o --stream=others:x -o program
compile -w k.cu other.o --stream=others:x -o program
compile -c other.cu --stream=local:y
rm -f -- *.o
compile -dc k.cu other.cu --stream=others:x
compile k.o other.o --stream=others:x -o program
compile k.o other.o --stream=other:x -o program

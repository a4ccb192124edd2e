# SPDX-License-Identifier: Apache-2.0
# The command lines that people's makefiles give nvcc: each compiles, runs and has its meaning.
set -e
cd "$TMP"
mkdir -p include lib objects
echo '#define FROM_HEADER 5' >include/header.h
cat >program.cu <<'END'
#include "header.h"
#include <stdio.h>
#ifndef VALUE
#define VALUE 1
#endif
#ifdef UNWANTED
#error "UNWANTED is defined"
#endif
extern "C" int from_library(void);
__global__ void k(int *out) { *out = VALUE * 10 + FROM_HEADER; }
int main(void)
{
    int *d, out = 0;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    cudaMemcpy(&out, d, 4, cudaMemcpyDeviceToHost);
#ifdef WITH_LIBRARY
    out += from_library();
#endif
    printf("%d\n", out);
    return 0;
}
END
echo 'int from_library(void) { return 1000; }' >library.c
gcc -c library.c -o objects/library.o
ar rc lib/liblibrary.a objects/library.o
fail() { echo "$*"; exit 1; }
try() { # expected output, then options
    expected=$1
    shift
    rm -f program
    "$WPCC" "$@" -o program || fail "wpcc $* -o program: exit status $?"
    got=$(./program) || fail "wpcc $*: the program failed: $got"
    [ "$got" = "$expected" ] || fail "wpcc $*: expected $expected, got $got"
}
try 15 -Iinclude program.cu
try 15 -I include program.cu -lcudart
try 35 -Iinclude -DVALUE=3 program.cu
try 45 -I=include -D VALUE=4 -DUNWANTED -UUNWANTED program.cu
try 15 --include-path include -O0 -g program.cu
try 15 -Iinclude -g -G -O0 program.cu
for level in 0:c++11 1:c++14 2:c++17 3:c++20; do
    try 15 -Iinclude -O${level%:*} -std=${level#*:} program.cu
done
try 15 -Iinclude -Xcompiler -O3 -Xcompiler "-O2,-funroll-loops" -Xcompiler=-ffast-math program.cu
try 15 -Iinclude --compiler-options -fno-strict-aliasing -Xptxas -v -Xptxas=-dlcm=cg -Xptxas "-O3 -v" \
    -Wno-deprecated-gpu-targets -diag-suppress 177 --expt-relaxed-constexpr --extended-lambda --cudart=shared -cudart static \
    -ftz=true -prec-div=false -prec-sqrt=true -fmad=false program.cu
try 15 -Iinclude -arch=sm_13 program.cu
try 15 -Iinclude -arch sm_35 -std c++14 --default-stream legacy program.cu
try 15 -Iinclude --gpu-architecture=compute_20 --gpu-code=sm_20,sm_21 program.cu
try 15 -Iinclude -arch=native --compiler-bindir=/usr/bin/g++ -w program.cu
try 15 -Iinclude -gencode arch=compute_35,code=sm_35 -gencode=arch=compute_70,code=\"sm_70,compute_70\" program.cu
try 15 -Iinclude -use_fast_math -maxrregcount=32 --ptxas-options=-v -lineinfo program.cu
try 15 -Iinclude -maxrregcount 64 -m64 -ccbin g++ program.cu
try 15 -Iinclude -Xlinker -O1 -Xcompiler -fopenmp -lgomp -lm -lpthread program.cu
try 45 -Xcompiler -Wall,-DVALUE=4,-Iinclude program.cu
try 45 -Xcompiler -I -Xcompiler include -Xcompiler "-D VALUE=4 -DUNWANTED" -Xcompiler -UUNWANTED program.cu
try 1015 -Iinclude -DWITH_LIBRARY program.cu -Llib -llibrary
try 1015 -Iinclude -DWITH_LIBRARY program.cu -L lib -l library
try 1015 -Iinclude -DWITH_LIBRARY program.cu objects/library.o
try 1015 -Iinclude -DWITH_LIBRARY program.cu library.c
cp program.cu program_without_ending
try 15 -Iinclude -x cu program_without_ending
cp program.cu program.cpp
try 15 -Iinclude --x=cu program.cpp
try 15 -Iinclude -O3 -rdc=true program.cu

# objects by default beside where one stands, -odir aside; several at once
"$WPCC" -c -Iinclude program.cu
[ -s program.o ] || fail "-c makes program.o"
try 15 program.o
"$WPCC" --compile -Iinclude program.cu --output-file objects/p.o
try 15 objects/p.o -lcudart
mkdir -p elsewhere && cd elsewhere && "$WPCC" -I../include ../program.cu && [ -x a.out ] && [ "$(./a.out)" = 15 ] || fail "a.out"
cd ..

# dependencies
"$WPCC" -c -MD -Iinclude program.cu -o objects/deps.o
[ -f objects/deps.d ] || fail "-MD writes objects/deps.d"
grep -q 'include/header.h' objects/deps.d && grep -q 'program.cu' objects/deps.d || fail "$(cat objects/deps.d)"
grep -q '^objects/deps.o:' objects/deps.d || fail "the target of -MD: $(head -n 1 objects/deps.d)"
"$WPCC" -c -MMD -MF objects/other.d -MT target.o -Iinclude program.cu -o objects/deps.o
grep -q '^target.o:' objects/other.d || fail "-MT: $(head -n 1 objects/other.d)"
"$WPCC" -M -Iinclude program.cu | grep -q 'include/header.h' || fail "-M prints dependencies"

# what makefiles ask
"$WPCC" --version | grep -Eq 'release [0-9]+\.[0-9]+' || fail "--version names a release"
"$WPCC" -V | grep -Eq 'release' || fail "-V"
"$WPCC" --help | grep -q -- '-arch' || fail "--help lists the options"
"$WPCC" -E -Iinclude program.cu | grep -q 'VALUE\|1 \* 10 + 5' || fail "-E preprocesses"
"$WPCC" -ptx -Iinclude program.cu -o program.ptx
grep -q '\.visible \.entry _Z1kPi' program.ptx || fail "-ptx writes the kernel"
"$WPCC" -### -Iinclude program.cu -o not_made 2>&1 | grep -q clang || fail "-### prints the commands"
[ ! -e not_made ] || fail "-### runs nothing"
"$WPCC" --keep-temps -c -Iinclude program.cu -o objects/kept.o
[ -s objects/kept.o ] || fail "--keep-temps still compiles"

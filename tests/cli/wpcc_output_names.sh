# SPDX-License-Identifier: Apache-2.0
# Without -o, results are named after their sources and lie in the current folder, or in -odir.
mkdir src out
echo '__global__ void k(int *p) { *p = 1; }' >src/a.cu
echo 'int f(int x) { return x; }' >src/b.c
wpcc -c src/a.cu src/b.c
wpcc -cubin src/a.cu
wpcc -fatbin -odir out src/a.cu
wpcc -cuda src/a.cu
wpcc -emit-llvm -c src/a.cu
wpcc -lib a.o b.o
wpcc -c src/a.cu -odir out -MD
ls . out
head -c 7 a.cubin

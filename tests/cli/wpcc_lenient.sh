# SPDX-License-Identifier: Apache-2.0
# What gcc, and so nvcc, lets pass in old code is no error.
cat >old.cu <<'END'
#include <cstdio>
#include <cinttypes>
__global__ void k(int *p) { register int one = 1; *p = one; }
int falls_off(int x) { if (x) return 1; }
char *name() { return "name"; }
void narrow(double d) { int a[] = {d, 2}; register int r = a[0]; printf("%d x"PRIu64"\n", r); }
END
cat >old.c <<'END'
main() { char *p = 1; print_it(p); return 0; }
END
wpcc -std=c++17 -w -Xcompiler -Wall,-Werror -c old.cu && ls old.o && rm old.o
wpcc -w -c old.c && ls old.o
wpcc -c old.cu -Xcompiler -fopt-info,-O1

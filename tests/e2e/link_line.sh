# SPDX-License-Identifier: Apache-2.0
# What reaches the linker: -Xcompiler's options, libraries of another toolkit and GCC's OpenMP replaced by ours, -l:name, -run.
set -e
cd "$TMP"
cat >program.cu <<'END'
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif
__global__ void add(int *out) { *out += 2; }
int main(int argc, char **argv)
{
    int *d, n = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(3)
#pragma omp atomic
    n += omp_get_num_threads();
#endif
    cudaMalloc((void **)&d, sizeof n);
    cudaMemcpy(d, &n, sizeof n, cudaMemcpyHostToDevice);
    add<<<1, 1>>>(d);
    cudaMemcpy(&n, d, sizeof n, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", n, argc, argv[argc - 1]);
    return 0;
}
END
is() { # expected, got
    [ "$1" = "$2" ] || { echo "expected \"$1\", got \"$2\""; exit 1; }
}
is "2 3 b c" "$("$WPCC" -run -run-args 'a,b c' program.cu -o program)"
"$WPCC" -Xcompiler -fsanitize=address program.cu -o program
is "2 1 ./program" "$(./program)"
"$WPCC" -Xcompiler -fopenmp program.cu -o program -lgomp
is "11 1 ./program" "$(./program)"
"$WPCC" -Xcompiler -fopenmp -c program.cu -o program.o
for library in -lgomp "$(gcc -print-file-name=libgomp.so)"; do
    "$WPCC" program.o "$library" -o program
    is "11 1 ./program" "$(./program)"
done

mkdir toolkit
for name in libcudart.so libcudart_static.a libcuda.so libcudadevrt.a libcublas.so; do echo "not a library" >toolkit/$name; done
"$WPCC" program.cu -Ltoolkit -lcudart -lcuda -lcudadevrt toolkit/libcudart.so toolkit/libcudart_static.a toolkit/libcublas.so -lcublas -o program
is "2 1 ./program" "$(./program)"

echo 'int unused;' >part.c
"$WPCC" -c part.c && ar rc toolkit/odd_name.lib part.o
"$WPCC" program.cu -Ltoolkit -l:odd_name.lib toolkit/odd_name.lib -o program
is "2 1 ./program" "$(./program)"

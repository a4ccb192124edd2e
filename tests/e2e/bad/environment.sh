# SPDX-License-Identifier: Apache-2.0
# Wrong settings of a run: refused by name before the program's kernels run, or CUDA's error in the program.
cd "$TMP" || exit 1
cat >program.cu <<'END'
#include <stdio.h>
int main(void)
{
    void *p;
    cudaError_t error = cudaMalloc(&p, 16);
    printf("%s\n", cudaGetErrorName(error));
    return error != cudaSuccess;
}
END
"$WPCC" program.cu -o program || exit 1
expect() { # pattern on stderr, then the environment
    pattern=$1
    shift
    env "$@" ./program >stdout 2>stderr
    status=$?
    if [ $status -eq 0 ] || ! grep -Eq -- "$pattern" stderr; then
        echo "$*: expected a failure and /$pattern/, got exit status $status and:"
        cat stdout stderr
        failures=1
    fi
}
failures=0
expect 'lots' WARPAGE_WORKERS=lots
expect 'gigantic' WARPAGE_DEVICE_MEMORY=gigantic
expect 'abacus' WARPAGE_DEVICE=abacus
./program >/dev/null || failures=1
exit $failures

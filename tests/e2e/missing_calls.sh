# SPDX-License-Identifier: Apache-2.0
# A call that Warpage lacks links, says its name once, and answers cudaErrorNotSupported.
set -e
cd "$TMP"
cat >graphs.cu <<'END'
#include <stdio.h>
int main(void)
{
    cudaMemPool_t pool;
    cudaError_t first = cudaDeviceGetMemPool(&pool, 0), second = cudaDeviceGetMemPool(&pool, 0);
    printf("%s %s %s\n", cudaGetErrorName(first), cudaGetErrorName(second), cudaGetErrorName(cudaGetLastError()));
    return 0;
}
END
"$WPCC" graphs.cu -o graphs
[ "$(./graphs 2>talk)" = "cudaErrorNotSupported cudaErrorNotSupported cudaErrorNotSupported" ] || { ./graphs; exit 1; }
[ "$(grep -c cudaDeviceGetMemPool talk)" = 1 ] || { cat talk; exit 1; }

# SPDX-License-Identifier: Apache-2.0
# A call that Warpage lacks links, says its name once, and answers cudaErrorNotSupported.
set -e
cd "$TMP"
cat >graphs.cu <<'END'
#include <stdio.h>
int main(void)
{
    cudaError_t first = cudaFreeMipmappedArray(0), second = cudaFreeMipmappedArray(0);
    printf("%s %s %s\n", cudaGetErrorName(first), cudaGetErrorName(second), cudaGetErrorName(cudaGetLastError()));
    return 0;
}
END
"$WPCC" graphs.cu -o graphs
[ "$(./graphs 2>talk)" = "cudaErrorNotSupported cudaErrorNotSupported cudaErrorNotSupported" ] || { ./graphs; exit 1; }
[ "$(grep -c cudaFreeMipmappedArray talk)" = 1 ] || { cat talk; exit 1; }

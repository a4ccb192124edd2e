# SPDX-License-Identifier: Apache-2.0
# A call that Warpage lacks links, says its name once, and answers cudaErrorNotSupported.
set -e
cd "$TMP"
cat >graphs.cu <<'END'
#include <stdio.h>
int main(void)
{
    cudaStream_t stream = 0;
    cudaError_t first = cudaStreamCopyAttributes(stream, stream), second = cudaStreamCopyAttributes(stream, stream);
    printf("%s %s %s\n", cudaGetErrorName(first), cudaGetErrorName(second), cudaGetErrorName(cudaGetLastError()));
    return 0;
}
END
"$WPCC" graphs.cu -o graphs
[ "$(./graphs 2>talk)" = "cudaErrorNotSupported cudaErrorNotSupported cudaErrorNotSupported" ] || { ./graphs; exit 1; }
[ "$(grep -c cudaStreamCopyAttributes talk)" = 1 ] || { cat talk; exit 1; }

# SPDX-License-Identifier: Apache-2.0
# curand_kernel.h in a source of another compiler, for the types of states.
cat >state.cpp <<'C'
#include <curand_kernel.h>
int main() { return sizeof(curandState) != 48; }
C
g++ -I "$(dirname "$(command -v wpcc)")/../lib/warpage/cuda/include" state.cpp -o state && ./state && echo 48 bytes

# SPDX-License-Identifier: Apache-2.0
# Files of plain C++ are corrected as CUDA's are: arrays of variable size with initial values, macros that stand for a pragma.
cat >plain.cpp <<'END'
#include <cstdio>
#define UNROLL #pragma GCC unroll 2
int main(int argc, char **) {
    int n = argc + 2, sum = 0;
    int a[n] = {3, 4}, table[n][2] = {{1}, {2, 5}};
    UNROLL
    for (int i = 0; i < n; i++)
        sum += a[i] + table[i][0] * table[i][1];
    std::printf("%d\n", sum);
    return 0;
}
END
wpcc plain.cpp -o plain
./plain

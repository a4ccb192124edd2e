/* SPDX-License-Identifier: Apache-2.0 */
/* Launches as formatters that do not know CUDA leave them: `<< <` and `>> >`. Templates, strings and operators stay as they are. */
#include "check.h"

#include <vector>

__global__ void fill(int *out, int value) { out[threadIdx.x] = value; }

template <class T> struct box {
    T value;
};
template <class T> T operator<<(const box<T> &a, int n) { return a.value + n; }
template <> int operator<< <int>(const box<int> &a, int n) { return a.value - n; }

int main(void)
{
    int *out = check_managed<int>(8);
    std::vector<std::vector<int> > nested(2, std::vector<int>(3, 1)); // << <not a launch>> >
    const char *text = "k<< <1, 2>> >";
    fill << <1, 4 >> > (out, 7);
    fill<< <1, 4>>>(out + 4, 1 << 3);
    KERNEL_OK();
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], i < 4 ? 7 : 8);
    CHECK_EQ((int)nested.size(), 2);
    CHECK_EQ((int)sizeof "k<< <1, 2>> >", 14);
    CHECK(text[3] == ' ');
    CHECK_EQ((box<int>{5} << 3), 2);
    CHECK_EQ((operator<< <long>(box<long>{5}, 3)), 8);
    return check_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* C and C++ standard headers beside kernels: included in any order, std:: mathematics in kernels,
 * containers and algorithms on the host. */
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>
#include "check.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

__global__ void math(float *f, double *d, int *i)
{
    float x = f[0];
    double y = d[0];
    f[1] = std::sqrt(x);
    f[2] = std::pow(x, 2.0f);
    f[3] = std::abs(-x);
    f[4] = std::floor(x + 0.5f);
    f[5] = sqrt(x);
    f[6] = fabs(-x);
    f[7] = FLT_MAX;
    d[1] = std::sqrt(y);
    d[2] = std::exp(y - y);
    d[3] = std::fmax(y, 3.0);
    d[4] = std::abs(-y);
    d[5] = pow(y, 2);
    d[6] = DBL_EPSILON;
    i[0] = std::abs(-7);
    i[1] = abs(-8);
    i[2] = (int)labs(-9L);
    i[3] = max(3, 5) + min(3, 5) * 10;
    i[4] = (int)max(3u, 5u);
    i[5] = (int)(max(1.5f, 2.5f) * 2 + min(1.5, 2.5) * 4);
    i[6] = std::isnan(x) + std::isinf(y) * 2 + std::isfinite(x) * 4;
    i[7] = INT_MAX;
    i[8] = (int)max(7ll, 9ll) + (int)max(7ul, 9ul);
    char text[16];
    memset(text, 'a', sizeof text);
    memcpy(text, "xyz", 4);
    i[9] = text[0] + text[4];
}

int main(void)
{
    float *f = check_managed<float>(8);
    double *d = check_managed<double>(7);
    int *i = check_managed<int>(10);
    f[0] = 6.25f;
    d[0] = 2.25;
    math<<<1, 1>>>(f, d, i);
    KERNEL_OK();
    const float ef[] = {6.25f, 2.5f, 39.0625f, 6.25f, 6.0f, 2.5f, 6.25f, std::numeric_limits<float>::max()};
    const double ed[] = {2.25, 1.5, 1.0, 3.0, 2.25, 5.0625, DBL_EPSILON};
    const int ei[] = {7, 8, 9, 35, 5, 11, 4, INT_MAX, 18, 'x' + 'a'};
    for (int k = 0; k < 8; k++)
        CHECK_EQ(f[k], ef[k]);
    for (int k = 0; k < 7; k++)
        CHECK_EQ(d[k], ed[k]);
    for (int k = 0; k < 10; k++)
        CHECK_EQ(i[k], ei[k]);
    std::vector<int> v(100);
    std::iota(v.begin(), v.end(), 0);
    std::mt19937 random(7);
    std::shuffle(v.begin(), v.end(), random);
    std::sort(v.begin(), v.end(), std::greater<int>());
    CHECK_EQ(v[0], 99);
    std::map<std::string, int> names;
    names["one"] = 1;
    std::ostringstream text;
    text << names["one"] << " " << std::complex<double>(1, 2);
    CHECK(text.str() == "1 (1,2)");
    std::unique_ptr<int[]> owned(new int[3]);
    owned[2] = std::max(3, 4);
    CHECK_EQ(owned[2], 4);
    try {
        throw std::runtime_error("host");
    } catch (const std::exception &e) {
        CHECK(std::string(e.what()) == "host");
    }
    return check_done();
}

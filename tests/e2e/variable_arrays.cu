/* SPDX-License-Identifier: Apache-2.0 */
/* Initial values of arrays whose bounds are variables, in host code, as g++ and so nvcc accept: rows, two bounds, elements of
 * classes, several declarations, nothing in the list. */
#include <string>

#include "check.h"

struct point {
    int x, y;
};

template <typename T> static T total(int n) {
    T values[n] = {1, 2, 3}; // in a template; { a bracket in a comment
    T sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

static int rows(int n, int columns) {
    int table[2][columns] = {{1, 2, 3}, {4}};
    int flat [n] [2] = { 1, 2, 3 };
    int zeros[n][columns] = {}, one[n][1] = {{7}};
    int blocks[n][2][columns] = {{{1, 2}, {3}}, {{4}}};
    CHECK_EQ(blocks[0][0][1] + 10 * blocks[0][1][0] + 100 * blocks[1][0][0] + blocks[0][1][1] + blocks[1][1][0] + blocks[2][1][1], 432);
    int sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < columns; j++)
            sum += table[i][j] * (i + 1) * (j + 1);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++)
            CHECK_EQ(zeros[i][j], 0);
        CHECK_EQ(one[i][0], i == 0 ? 7 : 0);
        for (int j = 0; j < 2; j++)
            CHECK_EQ(flat[i][j], 2 * i + j < 3 ? 2 * i + j + 1 : 0);
    }
    return sum;
}

__global__ void add(int *x, int n) { x[threadIdx.x] += n; }

int main() {
    int n = 5;
    int a[n] = {1, 2}, b[n] = {10}, plain = 3, c[] = {4, 5};
    point points[n] = {{1, 2}, {3, 4}};
    const char *names[n] = {"one", "tw}o", ";"};
    std::string words[n] = {"first"};
    double halves[plain + 1] = {0.5, 1.5};
    for (int i = 0; i < n; i++) {
        CHECK_EQ(a[i], i == 0 ? 1 : i == 1 ? 2 : 0);
        CHECK_EQ(b[i], i == 0 ? 10 : 0);
        CHECK_EQ(points[i].x, i == 0 ? 1 : i == 1 ? 3 : 0);
        CHECK_EQ(points[i].y, i == 0 ? 2 : i == 1 ? 4 : 0);
        CHECK(words[i] == (i == 0 ? "first" : ""));
        CHECK((names[i] == nullptr) == (i > 2));
    }
    CHECK(std::string(names[1]) == "tw}o" && std::string(names[2]) == ";");
    CHECK(halves[0] + halves[1] == 2 && halves[2] == 0 && halves[3] == 0);
    CHECK_EQ(c[0] + c[1], 9);
    CHECK_EQ(total<int>(4), 6);
    CHECK(total<float>(3) == 6);
    CHECK_EQ(rows(3, 4), 1 + 4 + 9 + 8);

    int *x = check_managed<int>(5);
    for (int i = 0; i < n; i++)
        x[i] = a[i];
    add<<<1, 5>>>(x, n);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK_EQ(x[i], a[i] + 5);
    CUDA_OK(cudaFree(x));
    return check_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Classes passed by value and used in kernels: members, operators, inheritance, static
 * polymorphism, constructors and destructors on the device, references. */
#include "check.h"

class complex {
  public:
    __host__ __device__ complex(float r = 0, float i = 0) : re(r), im(i) {}
    __host__ __device__ complex operator*(const complex &o) const
    {
        return complex(re * o.re - im * o.im, re * o.im + im * o.re);
    }
    __host__ __device__ complex &operator+=(const complex &o)
    {
        re += o.re;
        im += o.im;
        return *this;
    }
    __host__ __device__ float norm() const { return re * re + im * im; }

  private:
    float re, im;
};

class matrix_view {
  public:
    __host__ __device__ matrix_view(int *d, int c) : data(d), columns(c) {}
    __device__ int &operator()(int r, int c) { return data[r * columns + c]; }

  private:
    int *data;
    int columns;
};

struct base {
    int id;
    __host__ __device__ int doubled() const { return 2 * id; }
};
struct derived : base {
    int extra;
    __host__ __device__ int total() const { return doubled() + extra; }
};

/* static polymorphism */
template <class Self> struct shape {
    __device__ int area() const { return static_cast<const Self *>(this)->area_of(); }
};
struct rectangle : shape<rectangle> {
    int w, h;
    __device__ int area_of() const { return w * h; }
};
struct square : shape<square> {
    int a;
    __device__ int area_of() const { return a * a; }
};
template <class S> __device__ int area_twice(const shape<S> &s) { return 2 * s.area(); }

struct counter_guard { /* does its work at the end of the scope */
    int *at;
    __device__ explicit counter_guard(int *p) : at(p) { atomicAdd(at, 1); }
    __device__ ~counter_guard() { atomicAdd(at, 100); }
};

__device__ void swap(int &a, int &b)
{
    int t = a;
    a = b;
    b = t;
}

__global__ void mandel(complex step, int *iterations)
{
    complex c = complex((float)threadIdx.x, (float)blockIdx.x) * step, z;
    int n = 0;
    while (n < 50 && z.norm() < 4.0f) {
        z = z * z;
        z += c;
        n++;
    }
    iterations[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

__global__ void others(matrix_view view, derived d, int *out)
{
    int t = threadIdx.x;
    view(t, 1) = t * d.total();
    rectangle r;
    r.w = t;
    r.h = 3;
    square s;
    s.a = t;
    {
        counter_guard guard(&out[32]);
        out[t] = area_twice(r) + area_twice(s);
    }
    int a = t, b = 7;
    swap(a, b);
    view(t, 2) = a * 1000 + b;
}

int main(void)
{
    int *out = check_managed<int>(64 * 64), *data = check_managed<int>(32 * 3);
    /* multiples of 1/32: all products of the first steps are exact, far ones escape clearly */
    mandel<<<64, 64>>>(complex(1.0f / 32, 0), out);
    KERNEL_OK();
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            if (x * x + y * y > 64 * 64)
                CHECK_EQ(out[y * 64 + x], 1);
    CHECK_EQ(out[0], 50);
    CHECK_EQ(out[1], 50);
    CHECK_EQ(out[63], 2);
    CHECK_EQ(out[32], 2); /* 0, 1, 2: outside after two steps */
    derived d;
    d.id = 5;
    d.extra = 3;
    memset(out, 0, 64 * sizeof(int));
    others<<<1, 32>>>(matrix_view(data, 3), d, out);
    KERNEL_OK();
    for (int t = 0; t < 32; t++) {
        CHECK_EQ(out[t], 6 * t + 2 * t * t);
        CHECK_EQ(data[t * 3 + 1], t * 13);
        CHECK_EQ(data[t * 3 + 2], 7000 + t);
    }
    CHECK_EQ(out[32], 32 * 101);
    return check_done();
}

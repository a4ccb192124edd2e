/* SPDX-License-Identifier: Apache-2.0 */
/* Classes with virtual functions, pure ones too, made and used in kernels. */
#include "check.h"

class shape {
  public:
    __device__ virtual ~shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};

class square : public shape {
  public:
    __device__ square(float side) : side_(side) {}
    __device__ float area() const override { return side_ * side_; }
    __device__ int corners() const override { return 4; }

  private:
    float side_;
};

class ring : public shape {
  public:
    __device__ ring(float inner, float outer) : inner_(inner), outer_(outer) {}
    __device__ float area() const override { return 3.0f * (outer_ * outer_ - inner_ * inner_); }

  private:
    float inner_, outer_;
};

__global__ void make(shape **shapes)
{
    const int i = threadIdx.x;
    shapes[i] = i % 2 == 0 ? (shape *)new square((float)i) : (shape *)new ring((float)i, i + 1.0f);
}

__global__ void use(shape **shapes, float *areas, int *corners)
{
    const int i = threadIdx.x;
    areas[i] = shapes[i]->area();
    corners[i] = shapes[i]->corners();
    delete shapes[i];
}

int main(void)
{
    shape **shapes = check_managed<shape *>(64);
    float *areas = check_managed<float>(64);
    int *corners = check_managed<int>(64);
    make<<<1, 64>>>(shapes);
    KERNEL_OK();
    use<<<1, 64>>>(shapes, areas, corners);
    KERNEL_OK();
    for (int i = 0; i < 64; i++) {
        CHECK_EQ(areas[i], i % 2 == 0 ? (float)i * i : 3.0f * ((i + 1.0f) * (i + 1.0f) - (float)i * i));
        CHECK_EQ(corners[i], i % 2 == 0 ? 4 : 0);
    }
    return check_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The host touches managed memory that is on the device, in each way there is. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../check.h"

enum { PAGE = 4096, PAGES = 512 };

__global__ void add_one(unsigned char *bytes)
{
    bytes[(size_t)(blockIdx.x * blockDim.x + threadIdx.x) * PAGE] += 1;
}

static void touch(unsigned char *bytes, const char *how)
{
    static unsigned char copy[10 * PAGE];
    static volatile unsigned sum;
    if (strcmp(how, "read") == 0)
        for (int i = 0; i < PAGES; i += 3)
            sum += bytes[i * PAGE];
    if (strcmp(how, "write") == 0)
        for (int i = 0; i < PAGES; i += 3)
            bytes[i * PAGE + 1] = 1;
    if (strcmp(how, "memcpy") == 0) memcpy(bytes + 20 * PAGE, copy, sizeof copy);
    if (strcmp(how, "system") == 0) { /* a system call writes there */
        int zero = open("/dev/zero", O_RDONLY);
        CHECK(read(zero, bytes + 100 * PAGE, 5 * PAGE) == 5 * PAGE);
        close(zero);
    }
    if (strcmp(how, "fread") == 0) {
        FILE *zero = fopen("/dev/zero", "r");
        CHECK(fread(bytes + 200 * PAGE, PAGE, 7, zero) == 7);
        fclose(zero);
    }
}

static void CUDART_CB touch_later(void *bytes)
{
    touch((unsigned char *)bytes, "write");
}

/* Kernels and the host want one page in turn. */
static void fight(unsigned char *bytes)
{
    for (int i = 1; i <= 20; i++) {
        add_one<<<1, 1>>>(bytes);
        CUDA_OK(cudaDeviceSynchronize());
        CHECK(bytes[0] == 7 + i);
    }
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "read";
    if (strcmp(how, "exact") == 0) /* whether reading maps one page */
        return syscall(SYS_userfaultfd, O_CLOEXEC | 1) >= 0 ? 0 : 1;
    unsigned char *bytes, *other;
    CUDA_OK(cudaMallocManaged((void **)&other, PAGE));
    CUDA_OK(cudaMallocManaged((void **)&bytes, (size_t)PAGES * PAGE));
    memset(bytes, 7, (size_t)PAGES * PAGE);
    if (strcmp(how, "preferred") == 0) CUDA_OK(cudaMemAdvise(bytes, PAGE, cudaMemAdviseSetPreferredLocation, 0));
    if (strcmp(how, "fight") == 0 || strcmp(how, "preferred") == 0) {
        fight(bytes);
        return check_done();
    }
    add_one<<<PAGES / 64, 64>>>(bytes);
    CUDA_OK(cudaDeviceSynchronize());
    touch(bytes, how);
    if (strcmp(how, "function") == 0) CUDA_OK(cudaLaunchHostFunc(0, touch_later, bytes));
    add_one<<<PAGES / 64, 64>>>(bytes);
    CUDA_OK(cudaDeviceSynchronize());
    unsigned sum = 0;
    if (strcmp(how, "freed") == 0) CUDA_OK(cudaFree(other));
    if (strcmp(how, "end") == 0 || strcmp(how, "freed") == 0)
        for (int i = 0; i < PAGES; i++)
            sum += bytes[i * PAGE];
    CHECK(sum == 0 || sum == 9 * PAGES);
    return check_done();
}

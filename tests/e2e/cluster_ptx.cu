// Clusters in inline PTX: 32-bit addresses in other blocks' shared memory, and the barrier's halves.
// DEVICES: cpu sim:h200
#include <cstdio>
#include <cuda_runtime.h>

enum { SIZE = 4, THREADS = 64, BLOCKS = 3 * SIZE };

struct result {
    unsigned loaded, added, compared, rank, is_in, is_own, vector, generic;
};

__global__ void __cluster_dims__(SIZE, 1, 1) use_ptx(result *out) {
    __shared__ unsigned words[THREADS];
    __shared__ unsigned counter, marks[THREADS];
    const unsigned t = threadIdx.x;
    unsigned rank, size;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    words[t] = 1000 * blockIdx.x + t;
    marks[t] = 0;
    if (t == 0) counter = 0;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

    const unsigned next = (rank + 1) % size;
    const unsigned own = (unsigned)__cvta_generic_to_shared(&words[t]);
    unsigned there, far_counter, far_marks;
    result r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(next));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r.loaded) : "r"(there) : "memory");
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r.rank) : "r"(there));
    const unsigned first = (unsigned)__cvta_generic_to_shared(&words[0]);
    unsigned a, b;
    asm volatile("{ .reg .u32 far; mapa.shared::cluster.u32 far, %2, %3;\n\t"
                 "ld.shared::cluster.v2.u32 {%0, %1}, [far + 8]; }"
                 : "=r"(a), "=r"(b)
                 : "r"(first), "r"(next)
                 : "memory");
    r.vector = a + b;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(far_counter)
                 : "r"((unsigned)__cvta_generic_to_shared(&counter)), "r"(next));
    asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], %2;"
                 : "=r"(r.added)
                 : "r"(far_counter), "r"(1u)
                 : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(far_counter),
                 "r"(2u)
                 : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(far_marks)
                 : "r"((unsigned)__cvta_generic_to_shared(&marks[t])), "r"(next));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far_marks), "r"(rank + 1) : "memory");
    asm volatile("atom.shared::cluster.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(r.compared)
                 : "r"(far_marks), "r"(rank + 1), "r"(rank + 101)
                 : "memory");
    unsigned long long generic;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&words[t]), "r"(next));
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(r.is_in)
                 : "l"(generic));
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
                 : "=r"(r.is_own)
                 : "l"(generic));
    r.generic = *(volatile unsigned *)generic;
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (counter != 3 * THREADS) r.added = 0xffffffffu;
    if (marks[t] != (rank + size - 1) % size + 101) r.compared = 0;
    out[blockIdx.x * THREADS + t] = r;
}

int main() {
    result *out;
    int wrong = 0;
    if (cudaMallocManaged(&out, BLOCKS * THREADS * sizeof *out) != cudaSuccess) return 1;
    use_ptx<<<BLOCKS, THREADS>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    for (unsigned i = 0; i < BLOCKS * THREADS; i++) {
        const unsigned block = i / THREADS, t = i % THREADS, rank = block % SIZE;
        const unsigned next = block - rank + (rank + 1) % SIZE;
        const result &r = out[i];
        const bool is_good = r.loaded == 1000 * next + t && r.generic == r.loaded &&
                             r.rank == (rank + 1) % SIZE && r.vector == 2000 * next + 5 &&
                             r.added < 3 * THREADS && r.compared == rank + 1 && r.is_in == 1 &&
                             r.is_own == 0;
        if (!is_good && wrong++ < 5)
            std::printf("block %u thread %u: loaded %u, generic %u, rank %u, vector %u, added %u, "
                        "compared %u, is_in %u, is_own %u\n",
                        block, t, r.loaded, r.generic, r.rank, r.vector, r.added, r.compared,
                        r.is_in, r.is_own);
    }
    std::printf(wrong == 0 ? "PASS\n" : "%d wrong\n", wrong);
    return wrong != 0;
}

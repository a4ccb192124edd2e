/* SPDX-License-Identifier: Apache-2.0 */
/* What the host built in managed memory, kernels walk: a linked list, pointers to pointers, pointers into the middle of
 * allocations and in structures passed by value; managed, page-locked and registered memory beside each other. */
#include "check.h"

enum { PAGE = 4096, PAGE_WORDS = PAGE / 4, WORD_PAGES = 600, NODES = 40, CELLS = 64, HOST_WORDS = 4 * PAGE_WORDS };

typedef struct node {
    unsigned *at; /* into any memory */
    unsigned add;
    struct node *next;
    char rest[PAGE - 24]; /* a page each */
} node;

typedef struct view {
    node *first;
    unsigned **cells; /* each into the middle of something */
    struct {
        unsigned *page_locked, *registered;
    } host;
} view;

__managed__ unsigned visited;
__managed__ node *last_node;

__global__ void walk(view v)
{
    for (node *n = v.first; n != NULL; n = n->next) {
        *n->at += n->add;
        visited++;
        last_node = n;
    }
}

__global__ void through_cells(view v, unsigned ***again)
{
    const int i = threadIdx.x;
    *v.cells[i] += (unsigned)i + 1;
    __syncthreads();
    if (i == 0)
        **(*again + 5) += 1000; /* a pointer to the pointers */
    atomicAdd(&v.host.page_locked[i % 7], v.host.registered[i] + 1);
}

/* Where the i-th of so many pointers leads. */
static unsigned *target(unsigned *words, unsigned *page_locked, unsigned *registered, int i)
{
    if (i % 5 == 3)
        return page_locked + 100 + 8 * i;
    if (i % 5 == 4)
        return registered + 1000 + 8 * i;
    return words + (size_t)(i * 9 + 1) * PAGE_WORDS + 17 * i % PAGE_WORDS;
}

typedef struct memories {
    unsigned *words, *page_locked, *registered;
} memories;

static void fill(const memories *m)
{
    for (size_t i = 0; i < (size_t)WORD_PAGES * PAGE_WORDS; i++)
        m->words[i] = (unsigned)i;
    for (int i = 0; i < HOST_WORDS; i++) {
        m->page_locked[i] = 3u * i;
        m->registered[i] = 5u * i;
    }
}

/* The same by one thread of the host, on memory of its own. */
static void do_alone(const memories *m)
{
    for (int i = 0; i < NODES; i++)
        *target(m->words, m->page_locked, m->registered, i) += 7u * i;
    for (int i = 0; i < CELLS; i++)
        *target(m->words, m->page_locked, m->registered, i) += (unsigned)i + 1;
    *target(m->words, m->page_locked, m->registered, 5) += 1000;
    for (int i = 0; i < CELLS; i++)
        m->page_locked[i % 7] += m->registered[i] + 1;
}

static void compare(const memories *got, const memories *expected)
{
    for (size_t i = 0; i < (size_t)WORD_PAGES * PAGE_WORDS; i++)
        CHECK_EQ(got->words[i], expected->words[i]);
    for (int i = 0; i < HOST_WORDS; i++) {
        CHECK_EQ(got->page_locked[i], expected->page_locked[i]);
        CHECK_EQ(got->registered[i], expected->registered[i]);
    }
}

int main(void)
{
    memories m, own;
    node *nodes;
    unsigned **cells, ***again;
    CUDA_OK(cudaMallocManaged((void **)&m.words, (size_t)WORD_PAGES * PAGE));
    CUDA_OK(cudaMallocManaged((void **)&nodes, NODES * sizeof(node)));
    CUDA_OK(cudaMallocManaged((void **)&cells, CELLS * sizeof *cells + sizeof *again));
    CUDA_OK(cudaMallocHost((void **)&m.page_locked, HOST_WORDS * sizeof(unsigned)));
    m.registered = (unsigned *)aligned_alloc(PAGE, HOST_WORDS * sizeof(unsigned));
    CUDA_OK(cudaHostRegister(m.registered, HOST_WORDS * sizeof(unsigned), cudaHostRegisterMapped));
    own.words = (unsigned *)malloc((size_t)WORD_PAGES * PAGE);
    own.page_locked = (unsigned *)malloc(HOST_WORDS * sizeof(unsigned));
    own.registered = (unsigned *)malloc(HOST_WORDS * sizeof(unsigned));
    fill(&m);
    fill(&own);
    for (int i = 0; i < NODES; i++) { /* linked from the last to the first */
        nodes[i].at = target(m.words, m.page_locked, m.registered, i);
        nodes[i].add = 7u * i;
        nodes[i].next = i > 0 ? &nodes[i - 1] : NULL;
    }
    for (int i = 0; i < CELLS; i++)
        cells[i] = target(m.words, m.page_locked, m.registered, i);
    again = (unsigned ***)(cells + CELLS);
    *again = cells;

    const view v = {&nodes[NODES - 1], cells, {m.page_locked, m.registered}};
    walk<<<1, 1>>>(v);
    KERNEL_OK();
    CHECK_EQ(visited, NODES);
    CHECK(last_node == &nodes[0]);
    through_cells<<<1, CELLS>>>(v, again);
    KERNEL_OK();
    do_alone(&own);
    compare(&m, &own);
    CUDA_OK(cudaHostUnregister(m.registered));
    CUDA_OK(cudaFreeHost(m.page_locked));
    CUDA_OK(cudaFree(cells));
    CUDA_OK(cudaFree(nodes));
    CUDA_OK(cudaFree(m.words));
    return check_done();
}

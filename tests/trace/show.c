/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of a library that `wpcc --variant=trace` made, a line each:
 *
 *     kernel gather entry 0 clock spins
 *     function gather
 *     block 2 line 4 join 3
 *     issue int 3 chain 2
 *     access 0 load global ca 4 bytes line 5 parameter 1 idx
 *     wait 0 */
#include <dlfcn.h>
#include <stdio.h>

#include "base/abi.h"
#include "base/trace_abi.h"

static const char *const classes[WP_TRACE_CLASS_COUNT] = {
    "int",   "imul",    "fp16", "fp32", "fp64",   "special",   "convert", "control", "constant",
    "local", "texture", "warp", "sync", "tensor", "convert64", "shift",   "compare"};
static const char *const ops[WP_TRACE_OP_COUNT] = {"issue", "access", "wait", "fence",
                                                   "stop",  "clock",  "call", "return"};
static const char *const kinds[WP_TRACE_ACCESS_COUNT] = {"load", "store", "atomic", "reduce"};
static const char *const spaces[WP_TRACE_SPACE_COUNT] = {"generic", "global", "shared", "const"};
static const char *const caches[] = {"ca", "cg", "cs", "volatile", "nc", "texture"};

static void show_site(const wp_trace_site *s) {
    printf(" %s %s %s %u bytes line %u", kinds[s->access], spaces[s->space], caches[s->cache],
           s->size_bytes, s->line);
    if (s->parameter >= 0) printf(" parameter %d", s->parameter);
    if (s->name) printf(" %s", s->name);
}

static void show_step(const wp_trace_tables *t, const wp_trace_step *s) {
    printf("%s", ops[s->op]);
    if (s->op == WP_TRACE_ISSUE) {
        printf(" %s %u chain %u", classes[s->class], s->count, s->chain);
    } else if (s->op == WP_TRACE_ACCESS || s->op == WP_TRACE_WAIT || s->op == WP_TRACE_STOP) {
        printf(" %u", s->value);
        if (s->op == WP_TRACE_ACCESS) show_site(&t->sites[s->value]);
    }
    putchar('\n');
}

static void show_block(const wp_trace_tables *t, uint32_t number) {
    const wp_trace_block *b = &t->blocks[number];
    if (number == 0 || b[-1].function != b->function)
        printf("function %s\n", t->functions[b->function]);
    printf("block %u line %u join ", number, b->line);
    if (b->join == WP_TRACE_NONE)
        puts("none");
    else
        printf("%u\n", b->join);
    for (uint32_t s = 0; s < b->step_count; s++)
        show_step(t, &t->steps[b->first_step + s]);
}

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_LAZY) : NULL;
    const wp_trace_tables *t = library ? dlsym(library, WP_TRACE_TABLES_SYMBOL) : NULL;
    if (!t || t->version != WP_TRACE_VERSION || wp_rt_block) {
        fprintf(stderr, "usage: trace_show LIBRARY, made by wpcc --variant=trace\n");
        return 2;
    }
    for (uint32_t k = 0; k < t->kernel_count; k++)
        printf("kernel %s entry %u%s%s%s\n", t->kernels[k].name, t->kernels[k].entry,
               t->kernels[k].flags & WP_TRACE_KERNEL_CLOCK ? " clock" : "",
               t->kernels[k].flags & WP_TRACE_KERNEL_SPINS ? " spins" : "",
               t->kernels[k].flags & WP_TRACE_KERNEL_GRID ? " grid" : "");
    for (uint32_t b = 0; b < t->block_count; b++)
        show_block(t, b);
    return 0;
}

# SPDX-License-Identifier: Apache-2.0
# Combine callbacks of tables: named at compile time (inlined), in another file (-dc and link), in a library of
# device code (-lib), and by a pointer to a device function.
set -e
cd "$TMP"
cat >shared.h <<'END'
#include <warpage/cudart.h>
#include <warpage/table.h>
struct pair { uint32_t sum, count; };
__device__ void combine_elsewhere(const void *value, void *existing);
__device__ wp_answer count_word(const wp_table_view *table, uint32_t word, wp_table_combine combine);
END
cat >callback.cu <<'END'
#include "shared.h"
__device__ void combine_elsewhere(const void *value, void *existing)
{
    const struct pair *v = (const struct pair *)value;
    struct pair *e = (struct pair *)existing;
    e->sum += v->sum;
    e->count += v->count;
}
END
cat >insert.cu <<'END'
#include "shared.h"
__device__ wp_answer count_word(const wp_table_view *table, uint32_t word, wp_table_combine combine)
{
    const struct pair one = {word, 1};
    const uint32_t key = word % 50;
    return wp_table_insert_with(table, &key, sizeof key, &one, sizeof one, combine);
}
END
cat >main.cu <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "shared.h"
enum { WORDS = 4000 };
static __device__ void combine_here(const void *value, void *existing)
{
    const struct pair *v = (const struct pair *)value;
    struct pair *e = (struct pair *)existing;
    e->sum += v->sum;
    e->count += v->count;
}
static __device__ wp_table_combine pointer = combine_here;
__global__ void count(wp_table_view table, wp_units units, uint64_t first, uint64_t outer, int form,
                      wp_table_combine given)
{
    uint64_t word = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (word >= outer || wp_units_is_done(&units, word)) return;
    const struct pair one = {(uint32_t)word, 1};
    const uint32_t key = (uint32_t)word % 50;
    wp_attempt attempt = wp_attempt_begin(&units, word);
    if (form == 0)
        wp_table_emit_with(&table, &attempt, &key, sizeof key, &one, sizeof one, combine_here);
    else if (wp_attempt_wants(&attempt))
        wp_attempt_note(&attempt, count_word(&table, (uint32_t)word, form == 1 ? combine_elsewhere : given));
    wp_attempt_end(&attempt);
}
struct run { wp_table *table; int form; wp_table_combine given; };
static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer, wp_error *err)
{
    struct run *r = (struct run *)object;
    (void)err;
    count<<<(unsigned)((outer - first + 127) / 128), 128>>>(wp_table_get_view(r->table), *units, first, outer, r->form,
                                                           r->given);
    return cudaGetLastError() == cudaSuccess ? WP_STATUS_OK : WP_STATUS_LAUNCH;
}
#define OK(call) if ((call) != WP_STATUS_OK) { printf("form %d: %s\n", form, err.message); return 1; }
int main(void)
{
    for (int form = 0; form < 3; form++) {
        wp_error err = WP_ERROR_INIT;
        wp_table_spec spec = WP_TABLE_SPEC_INIT;
        wp_postpone_spec units = {WORDS, 0, 1, 0};
        wp_postpone *postpone;
        struct run r = {NULL, form, NULL};
        spec.organisation = WP_TABLE_COMBINING;
        spec.combiner = WP_TABLE_CALLBACK;
        spec.heap_bytes = 1024;
        spec.page_bytes = 128;
        if (cudaMemcpyFromSymbol(&r.given, pointer, sizeof r.given) != cudaSuccess) return 1;
        OK(wp_table_create(wp_cudart_device(), &spec, &r.table, &err));
        OK(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err));
        wp_requester requester = {&r, process, NULL};
        wp_postpone_facts facts;
        OK(wp_table_run(r.table, postpone, &requester, &facts, &err));
        if (wp_table_key_count(r.table) != 50 || facts.pass < 2) { printf("form %d: wrong\n", form); return 1; }
        for (uint32_t key = 0; key < 50; key++) {
            wp_table_cursor at = {0, 0, 0};
            wp_table_pair pair;
            uint32_t sum = 0;
            for (uint32_t w = key; w < WORDS; w += 50) sum += w;
            if (!wp_table_find_next(r.table, &key, sizeof key, &at, &pair) ||
                ((const struct pair *)pair.value)->sum != sum || ((const struct pair *)pair.value)->count != WORDS / 50) {
                printf("form %d, key %u: wrong\n", form, key);
                return 1;
            }
        }
        wp_postpone_destroy(postpone);
        wp_table_close(r.table);
    }
    return 0;
}
END
"$WPCC" -dc callback.cu -o callback.o
"$WPCC" -dc insert.cu -o insert.o
"$WPCC" -dc main.cu -o main.o
"$WPCC" callback.o insert.o main.o -o linked
"$WPCC" -lib callback.o insert.o -o libcounting.a
"$WPCC" main.o -L. -lcounting -o from_library
for program in linked from_library; do
    for device in cpu sim:gtx780ti; do
        WARPAGE_DEVICE=$device ./$program || { echo "$program on $device"; exit 1; }
    done
done

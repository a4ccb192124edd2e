# SPDX-License-Identifier: Apache-2.0
# Lanes that wait for a lock of the table meet its owner after its critical section, in the code that clang makes. Where
# they do not, the table deadlocks on GPUs before Volta, and no device here shows it.
set -e
cd "$TMP"
cat >kernels.cu <<'END'
#include <warpage/table.h>
__device__ static void join(const void *value, void *existing)
{
    *(uint64_t *)existing = *(uint64_t *)existing * 3 + *(const uint64_t *)value;
}
__global__ void combining(wp_table_view table, const uint64_t *keys)
{
    uint64_t i = threadIdx.x;
    table.organisation = WP_TABLE_COMBINING;
    table.combiner = WP_TABLE_CALLBACK;
    wp_table_insert_with(&table, &keys[i], 8, &i, 8, join);
}
__global__ void multivalued(wp_table_view table, const uint64_t *keys)
{
    uint64_t i = threadIdx.x;
    table.organisation = WP_TABLE_MULTIVALUED;
    wp_table_insert(&table, &keys[i], 8, &i, 8);
}
__global__ void any(wp_table_view table, const uint64_t *keys, uint32_t key_bytes, wp_table_combine combine)
{
    uint64_t i = threadIdx.x;
    wp_table_insert_with(&table, &keys[i], key_bytes, &i, 8, combine);
}
END
cat >prone.cu <<'END'
__global__ void before(int *lock, int *x)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *x += 1;
    __threadfence();
    atomicExch(lock, 0);
}
__global__ void threaded(int *lock, int *x) /* right in the source; the compiler moves the section out of the loop */
{
    bool done = false;
    while (!done)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *x += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}
END
forms() { # forms FILE [OPTION…]: what the check says of the code that every device gets
    file=$1
    shift
    "$WPCC" "$@" -O2 -c "$file" -o forms.o --print-after=limits >forms.ll 2>&1
    python3 "$E2E/lock_form.py" <forms.ll >forms.txt && status=0 || status=$?
}
for level in -O1 -O2 -O3; do
    forms kernels.cu $level
    [ $status = 0 ] || { cat forms.txt; exit 1; }
    for kernel in combining multivalued any; do
        grep -q "^right.*$kernel" forms.txt || { echo "no lock found in $kernel"; exit 1; }
    done
done
forms prone.cu
[ "$(grep -c ^prone forms.txt)" = 2 ] || { cat forms.txt; exit 1; }
# The check sees the form that it is for.
mkdir -p older/warpage
include=$("$WPCC" -M kernels.cu 2>/dev/null | tr ' \\' '\n\n' | grep '/warpage/table\.h$' | head -n 1)
cp "${include%/*}"/*.h older/warpage/
sed -i '/is_done = wp_word_meet/d' older/warpage/table_kernel.h
forms kernels.cu -I older
grep -q '^prone.*combining' forms.txt || { echo "without wp_word_meet:"; cat forms.txt; exit 1; }

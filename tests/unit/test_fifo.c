/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine/fifo.h"

#include "sim/engine/slab.h"
#include "wp_random.h"
#include "wp_test.h"

#define ITEMS 64u

/* The link is neither the first member nor the only one. */
typedef struct item {
    uint64_t value;
    uint32_t next, other;
} item;

/* The reference: numbers in order. */
typedef struct reference {
    uint32_t numbers[ITEMS], count;
} reference;

static void insert(reference *r, uint32_t at, uint32_t number) {
    memmove(&r->numbers[at + 1], &r->numbers[at], (r->count - at) * sizeof r->numbers[0]);
    r->numbers[at] = number;
    r->count++;
}

static uint32_t take(reference *r, uint32_t at) {
    const uint32_t number = r->numbers[at];
    r->count--;
    memmove(&r->numbers[at], &r->numbers[at + 1], (r->count - at) * sizeof r->numbers[0]);
    return number;
}

static void assert_same(const wpi_fifo *fifo, wpi_fifo_links links, const reference *r) {
    uint32_t number = fifo->first;
    for (uint32_t i = 0; i < r->count; i++) {
        assert_u64(number, r->numbers[i]);
        if (i + 1 == r->count) assert_u64(fifo->last, number);
        number = *wpi_fifo_next(links, number);
    }
    assert_u64(number, WPI_FIFO_NONE);
    assert_int_equal(wpi_fifo_is_empty(fifo), r->count == 0);
}

/* One step on the queue and on its reference; `free` are the numbers in no queue. */
static void step(wpi_fifo *fifo, wpi_fifo_links links, reference *r, reference *free,
                 uint64_t random) {
    const uint32_t at = (uint32_t)(random >> 8) % (r->count + 1);
    const uint32_t before = at == 0 ? WPI_FIFO_NONE : r->numbers[at - 1];
    switch (random % 6) {
    case 0:
    case 1:
        if (free->count == 0) return;
        insert(r, r->count, take(free, 0));
        wpi_fifo_append(fifo, links, r->numbers[r->count - 1]);
        return;
    case 2:
        if (free->count == 0) return;
        insert(r, 0, take(free, 0));
        wpi_fifo_put_first(fifo, links, r->numbers[0]);
        return;
    case 3:
        if (r->count == 0) return;
        insert(free, free->count, take(r, 0));
        assert_u64(wpi_fifo_take_first(fifo, links), free->numbers[free->count - 1]);
        return;
    default:
        if (at == r->count) return;
        insert(free, free->count, take(r, at));
        assert_u64(wpi_fifo_take_behind(fifo, links, before), free->numbers[free->count - 1]);
    }
}

static void it_keeps_the_order_of_a_list(void **state) {
    item items[ITEMS] = {{0}};
    const wpi_fifo_links links = WPI_FIFO_LINKS(items, item, next);
    wpi_fifo fifo = WPI_FIFO_EMPTY;
    reference r = {.count = 0}, free = {.count = 0};
    uint64_t random = 4711;
    (void)state;
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i].value = items[i].other = i;
        insert(&free, i, i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        step(&fifo, links, &r, &free, wp_random_next(&random));
        assert_same(&fifo, links, &r);
    }
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_true(items[i].value == i && items[i].other == i);
}

static void the_head_of_a_queue_is_taken_as_a_queue(void **state) {
    item items[5] = {{0}};
    const wpi_fifo_links links = WPI_FIFO_LINKS(items, item, next);
    wpi_fifo fifo = WPI_FIFO_EMPTY;
    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        wpi_fifo_append(&fifo, links, i);
    const wpi_fifo head = wpi_fifo_take_until(&fifo, links, 1);
    assert_same(&head, links, &(reference){{0, 1}, 2});
    assert_same(&fifo, links, &(reference){{2, 3, 4}, 3});
    const wpi_fifo rest = wpi_fifo_take_until(&fifo, links, 4);
    assert_same(&rest, links, &(reference){{2, 3, 4}, 3});
    assert_true(wpi_fifo_is_empty(&fifo));
    wpi_fifo_append(&fifo, links, 0);
    const wpi_fifo all = wpi_fifo_take_all(&fifo);
    assert_same(&all, links, &(reference){{0}, 1});
    assert_true(wpi_fifo_is_empty(&fifo));
}

/* A pool's items move when it grows. */
static void its_items_may_move(void **state) {
    wpi_pool pool = {0};
    wpi_fifo fifo = WPI_FIFO_EMPTY;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t number = wpi_pool_take(&pool, sizeof(item));
        ((item *)pool.items)[number].value = i;
        wpi_fifo_append(&fifo, WPI_FIFO_LINKS(pool.items, item, next), number);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t number = wpi_fifo_take_first(&fifo, WPI_FIFO_LINKS(pool.items, item, next));
        assert_u64(((item *)pool.items)[number].value, i);
    }
    assert_true(wpi_fifo_is_empty(&fifo));
    wpi_pool_deinit(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_keeps_the_order_of_a_list),
        cmocka_unit_test(the_head_of_a_queue_is_taken_as_a_queue),
        cmocka_unit_test(its_items_may_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/sent_bytes.h"

#include "wp_random.h"
#include "wp_test.h"

enum { BYTES = 1000 };

static void bytes_that_come_again_are_counted(void **state) {
    (void)state;
    wpi_sent_bytes sent = {0};
    static unsigned char plain[BYTES];
    uint64_t random = 5;
    char *base = (char *)(uintptr_t)0x10000;
    assert_u64(wpi_sent_bytes_note(&sent, (uintptr_t)base, 8), 0);
    wpi_sent_bytes_add(&sent, base, BYTES);
    wpi_sent_bytes_add(&sent, base, BYTES);
    assert_u64(sent.count, 1);
    for (int n = 0; n < 500; n++) {
        const uint64_t r = wp_random_next(&random), first = r % BYTES;
        const uint64_t count = (r >> 20) % (n % 2 == 0 ? 17 : 200);
        uint64_t before = 0;
        if (first + count > BYTES) continue;
        for (uint64_t i = first; i < first + count; i++) {
            before += plain[i];
            plain[i] = 1;
        }
        assert_u64(wpi_sent_bytes_note(&sent, (uintptr_t)base + first, count), before);
    }
    assert_u64(wpi_sent_bytes_note(&sent, (uintptr_t)base + BYTES - 4, 8), 0); /* not all inside */
    wpi_sent_bytes_add(&sent, base + BYTES, (size_t)2 << 30);                  /* too large */
    assert_u64(sent.count, 1);
    wpi_sent_bytes_deinit(&sent);
    assert_u64(sent.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_that_come_again_are_counted)};
    return wp_test_main(tests);
}

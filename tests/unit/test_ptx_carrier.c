/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/ptx_carrier.h"
#include "wp_test.h"

static const char ptx[] = ".version 6.3\n.target sm_70\n.visible .entry k() { ret; }";

static char *carry(const void *image, size_t size_bytes) {
    wpi_text text = {0};
    wpi_text_append(&text, ptx);
    wpi_ptx_carrier_append(&text, image, size_bytes);
    return wpi_text_take(&text);
}

static void an_image_of_any_length_returns_with_its_text(void **state) {
    (void)state;
    unsigned char image[400];
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (unsigned char)(i * 151 + 7);
    for (size_t bytes = 1; bytes < sizeof image; bytes++) {
        void *got;
        size_t got_bytes, length;
        wp_error err = {0};
        char *text = carry(image, bytes);
        assert_status_ok(wpi_ptx_carrier_read(text, &got, &got_bytes, &length, &err), &err);
        assert_u64(got_bytes, bytes);
        assert_memory_equal(got, image, bytes);
        assert_u64(length, strlen(ptx) + 1); /* a line break was added */
        assert_memory_equal(text, ptx, strlen(ptx));
        wpi_free(got);
        wpi_free(text);
    }
}

static void text_without_an_image_is_not_found(void **state) {
    (void)state;
    void *got;
    size_t bytes, length;
    wp_error err = {0};
    assert_status_fails(wpi_ptx_carrier_read(ptx, &got, &bytes, &length, &err), WP_STATUS_NOT_FOUND,
                        &err, "no image");
}

/* Every cut, and every byte changed: an error, or the very image. */
static void damage_is_an_error(void **state) {
    (void)state;
    const char image[] = "forty bytes or so of an image that counts";
    char *text = carry(image, sizeof image);
    const size_t whole = strlen(text);
    size_t bytes, length, rights = 0;
    void *got;
    for (size_t i = 0; i < whole; i++) {
        const char kept = text[i];
        for (int cut = 0; cut < 2; cut++) {
            text[i] = cut ? '\0' : (char)(kept == 'x' ? 'y' : 'x');
            if (wpi_ptx_carrier_read(text, &got, &bytes, &length, NULL) == WP_STATUS_OK) {
                assert_true(bytes <= sizeof image + 2);
                rights++;
                wpi_free(got);
            }
        }
        text[i] = kept;
    }
    assert_true(rights < whole); /* the text has a hash; the image is checked by its own reader */
    text[3]++;
    wp_error err = {0};
    assert_status_fails(wpi_ptx_carrier_read(text, &got, &bytes, &length, &err), WP_STATUS_PARSE,
                        &err, "was changed");
    wpi_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_of_any_length_returns_with_its_text),
        cmocka_unit_test(text_without_an_image_is_not_found),
        cmocka_unit_test(damage_is_an_error),
    };
    return wp_test_main(tests);
}

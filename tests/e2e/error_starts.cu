/* SPDX-License-Identifier: Apache-2.0 */
/* WP_ERROR_INIT starts a wp_error in C++ as in C. */
#include <string.h>

#include "check.h"
#include "../../include/warpage/error.h"

int main(void)
{
    wp_error error = WP_ERROR_INIT;
    CHECK(error.status == WP_STATUS_OK);
    CHECK(error.file == NULL && error.line == 0);
    for (size_t i = 0; i < sizeof error.message; i++)
        CHECK(error.message[i] == '\0');
    return check_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "warpage/ops.h"

const char *wp_strategy_name(wp_strategy strategy) {
    static const char *const names[WP_STRATEGY_COUNT] = {"auto", "direct",    "scoped",
                                                         "copy", "partition", "sepo"};
    return strategy < WP_STRATEGY_COUNT ? names[strategy] : NULL;
}

const char *wp_placement_name(wp_placement placement) {
    static const char *const names[WP_PLACEMENT_COUNT] = {"auto", "zero-copy", "copied",
                                                          "resident"};
    return placement < WP_PLACEMENT_COUNT ? names[placement] : NULL;
}

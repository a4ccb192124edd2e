/* SPDX-License-Identifier: Apache-2.0 */
/** Everything of libwarpage's C interface, and its version. */
#ifndef WARPAGE_WARPAGE_H
#define WARPAGE_WARPAGE_H

#define WP_VERSION_MAJOR 0
#define WP_VERSION_MINOR 1
#define WP_VERSION_PATCH 0
#define WP_VERSION_STRING "0.1.0"

#include "warpage/device.h"
#include "warpage/error.h"
#include "warpage/report.h"

#endif

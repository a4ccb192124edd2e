/* SPDX-License-Identifier: Apache-2.0 */
/** The version of Warpage, for all of its parts. */
#ifndef WARPAGE_VERSION_H
#define WARPAGE_VERSION_H

#define WP_VERSION_MAJOR 0
#define WP_VERSION_MINOR 1
#define WP_VERSION_PATCH 0
#define WP_VERSION_STRING "0.1.0"

#endif

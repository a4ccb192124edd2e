/* SPDX-License-Identifier: Apache-2.0 */
/** The version of Warpage, for all of its parts. */
#ifndef WARPAGE_VERSION_H
#define WARPAGE_VERSION_H

#define WARPAGE_VERSION_MAJOR 0
#define WARPAGE_VERSION_MINOR 1
#define WARPAGE_VERSION_PATCH 0
#define WARPAGE_VERSION "0.1.0"

#endif

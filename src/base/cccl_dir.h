/* SPDX-License-Identifier: Apache-2.0 */
/** Where NVIDIA's C++ libraries (CCCL: Thrust, CUB, libcu++) are. They are headers; Warpage does
 * not contain them, `warpage doctor --install cccl` downloads them into the user's folder. */
#ifndef WP_BASE_CCCL_DIR_H
#define WP_BASE_CCCL_DIR_H

#include <stdbool.h>

#include "base/fail.h"

/** The folder that --install cccl writes, whether it exists or not: cccl in wpi_data_path. NULL:
 * the user has no home folder. Free with wpi_free. */
WP_NODISCARD char *wpi_cccl_path(void);

/** The folder below `root` that has thrust/, cub/ and cuda/: `root` itself or a place where a
 * toolkit or NVIDIA's packages have it. NULL: none. Free with wpi_free. */
WP_NODISCARD char *wpi_cccl_include(const char *root);

/** Its version, as "2.8.2", from an include folder; NULL if it cannot be read. Free with wpi_free.
 */
WP_NODISCARD char *wpi_cccl_version(const char *include);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** `warpage doctor --install cccl`. */
#ifndef WP_CLI_INSTALL_CCCL_H
#define WP_CLI_INSTALL_CCCL_H

#include "base/fail.h"

/** Downloads NVIDIA's C++ libraries by pip into the user's folder, and says so on stdout. The
 * folder is complete or not there at all. NOT_FOUND, IO, TOOLCHAIN: the message has the remedy. */
WP_NODISCARD wp_status wpi_install_cccl(wp_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** The parameter of CUDA's libraries. */
#ifndef WP_LIBRARIES_LIBRARY_PARAMS_H
#define WP_LIBRARIES_LIBRARY_PARAMS_H

#include "base/param.h"

extern const wpi_param wpi_libraries_params[];

#endif

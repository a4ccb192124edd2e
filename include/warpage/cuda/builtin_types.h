/* SPDX-License-Identifier: Apache-2.0 */
/** Every type the language and the runtime API bring along. */
#ifndef WARPAGE_CUDA_BUILTIN_TYPES_H
#define WARPAGE_CUDA_BUILTIN_TYPES_H

#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** A part of cuRAND's device API, which curand_kernel.h has as a whole. */
#include "curand_kernel.h"

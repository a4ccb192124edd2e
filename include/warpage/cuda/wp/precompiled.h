/* SPDX-License-Identifier: Apache-2.0 */
/** What wpcc precompiles: all that it includes before the first line of a CUDA file. */
#include <cuda_runtime.h>

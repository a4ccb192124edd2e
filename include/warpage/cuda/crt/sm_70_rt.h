/* SPDX-License-Identifier: Apache-2.0 */
/** Kept for programs that name it: cuda_runtime.h has brought these functions already. */

/* SPDX-License-Identifier: Apache-2.0 */
/** alpha value + beta old, once a type: before it is included, NAME, REAL, LOAD and STORE. */

static __device__ void NAME(put)(const wpi_dnn_tensor &t, long long offset, REAL value, REAL alpha,
                                 REAL beta) {
    STORE(t, offset, beta == 0 ? alpha * value : alpha * value + beta * LOAD(t, offset));
}

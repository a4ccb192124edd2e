/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of empty.cu in OpenCL C. */
kernel void empty(void) {
}

/* SPDX-License-Identifier: Apache-2.0 */
/* libcudart.so.11.0: programs linked with CUDA 11's runtime look for its symbols by this version,
 * and find them in libwarpage, which this library needs. */
extern const char wpi_cudart_version[];
const char wpi_cudart_version[] = "11.0";

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of products by type. */
#include "libraries/cublas/blas_shared.h"

#define PRODUCT(x) cudaError_t wpi_product_##x(cudaStream_t stream, const wpi_product *product);
PRODUCT(s)
PRODUCT(d)
PRODUCT(s_wide)
PRODUCT(d_wide)
PRODUCT(c)
PRODUCT(z)
PRODUCT(h)
PRODUCT(hs)
PRODUCT(hh)
PRODUCT(b)
PRODUCT(bs)
PRODUCT(i)
PRODUCT(is)

cudaError_t wpi_blas_product(cudaStream_t stream, wpi_blas_type type, const wpi_product *product) {
    static cudaError_t (*const launches[WPI_BLAS_PRODUCTS])(cudaStream_t, const wpi_product *) = {
        wpi_product_s,  wpi_product_d, wpi_product_c,  wpi_product_z, wpi_product_h, wpi_product_hs,
        wpi_product_hh, wpi_product_b, wpi_product_bs, wpi_product_i, wpi_product_is};
    return launches[type](stream, product);
}

cudaError_t wpi_blas_cpu_product(cudaStream_t stream, wpi_blas_type type,
                                 const wpi_product *product) {
    if (type == WPI_BLAS_S) return wpi_product_s_wide(stream, product);
    if (type == WPI_BLAS_D) return wpi_product_d_wide(stream, product);
    return wpi_blas_product(stream, type, product);
}

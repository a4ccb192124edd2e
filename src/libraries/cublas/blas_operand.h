/* SPDX-License-Identifier: Apache-2.0 */
/** Elements of matrices in kernels: blas_element.h comes before. STORED: the type in memory, which
 * LOAD(x) converts. */
static __device__ const STORED *NAME(data)(const wpi_matrix *m, long long batch) {
    const STORED *data = m->array != NULL ? (const STORED *)m->array[batch]
                                          : (const STORED *)m->data + batch * m->stride;
    return data + m->offset;
}

/* Element (i, j) of op(m). */
static __device__ T NAME(element)(const wpi_matrix *m, const STORED *data, int i, int j) {
    const bool is_turned = m->op == WPI_OP_T || m->op == WPI_OP_C;
    bool is_conjugated = m->op == WPI_OP_C || m->op == WPI_OP_CONJ;
    long long row = is_turned ? j : i, column = is_turned ? i : j;
    if (m->shape != WPI_SHAPE_GENERAL) {
        if (row == column) {
            if (m->is_unit) return NAME(make)(1, 0);
            const T value = LOAD(data[row + column * m->ld]);
            if (m->shape == WPI_SHAPE_HERMITIAN) return NAME(real_part)(value);
            return is_conjugated ? NAME(conj)(value) : value;
        }
        if ((row < column) == (m->triangle == WPI_TRIANGLE_LOWER)) {
            if (m->shape == WPI_SHAPE_TRIANGULAR) return NAME(make)(0, 0);
            const long long swapped = row;
            row = column;
            column = swapped;
            if (m->shape == WPI_SHAPE_HERMITIAN) is_conjugated = !is_conjugated;
        }
    }
    const T value = LOAD(data[row + column * m->ld]);
    return is_conjugated ? NAME(conj)(value) : value;
}

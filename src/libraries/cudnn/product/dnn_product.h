/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A convolution as a product of matrices, made once a type: rows are channels of the result (of the
 * filter's gradient: maps), columns are its other elements, and the depth is what each of them sums
 * over. The left operand, a, is the filter, or for its gradient y. The right one is gathered: the
 * element of a column and a depth is at the sum of what each adds to an offset and to three
 * coordinates, or 0 where a coordinate is in the padding.
 *
 * A block computes ROWS x COLUMNS elements, each of its threads EACH x EACH, from slices of the
 * operands in shared memory. Before it is included: NAME, REAL (of the sums), LOAD, STORE and
 * the sizes (dnn_product_types.h).
 */

#include "libraries/cudnn/dnn_put.h"

/* EACH rows of a column. */
typedef REAL NAME(rows) __attribute__((ext_vector_type(EACH)));

typedef struct NAME(slices) {
    NAME(rows) a[SLICE][ROWS / EACH + 1]; /* the gap is against bank conflicts, as b's is */
    REAL b[SLICE][COLUMNS + EACH];
    int column_from[COLUMNS], column_to[COLUMNS], column_at[WPI_DNN_SPACE][COLUMNS];
    int depth_a[2][SLICE], depth_from[2][SLICE], depth_at[2][WPI_DNN_SPACE][SLICE];
    unsigned char column_run[COLUMNS / RUN], depth_run[2][SLICE / RUN], a_run[2][SLICE / RUN],
        is_whole[2][SLICE / RUN];
    wpi_axis axes[WPI_DNN_SPACE];
} NAME(slices);

static __device__ REAL NAME(left)(const wpi_dnn_product &p, const NAME(slices) & s, int now,
                                  long long first, int row, int l) {
    const int offset = s.depth_a[now][l];
    return row < p.rows && offset >= 0 ? LOAD(p.a, first + row * p.a_row + offset) : (REAL)0;
}

#if RUN == 1
static __device__ REAL NAME(right)(const wpi_dnn_product &p, const NAME(slices) & s, int now,
                                   long long first, int l, int i) {
    if (s.depth_a[now][l] < 0) return 0;
    if (!p.is_inside) {
        for (int d = 0; d < WPI_DNN_SPACE; d++)
            if ((unsigned)(s.column_at[d][i] + s.depth_at[now][d][l]) >=
                (unsigned)p.from.size[2 + d])
                return 0;
    }
    return LOAD(p.from, first + s.column_from[i] + s.depth_from[now][l]);
}

/* The operands' slices of one depth. Neighbouring threads read neighbours in memory. */
static __device__ void NAME(load)(const wpi_dnn_product &p, NAME(slices) & s, int now, long long a0,
                                  long long from0, int i0) {
    REAL *a = (REAL *)s.a; /* [SLICE][A_ROWS] */
    for (int at = (int)threadIdx.x; at < SLICE * ROWS; at += BLOCK) {
        const int l = p.is_a_by_rows ? at / ROWS : at % SLICE,
                  r = p.is_a_by_rows ? at % ROWS : at / SLICE;
        a[l * A_ROWS + r] = NAME(left)(p, s, now, a0, i0 + r, l);
    }
    for (int at = (int)threadIdx.x; at < SLICE * COLUMNS; at += BLOCK) {
        const int l = p.is_b_by_depth ? at % SLICE : at / COLUMNS,
                  i = p.is_b_by_depth ? at / SLICE : at % COLUMNS;
        s.b[l][i] = NAME(right)(p, s, now, from0, l, i);
    }
}
#else
/* RUN elements, which are neighbours in memory or not, to places `apart` from each other. */
static __device__ void NAME(copy)(const wpi_dnn_tensor &t, long long from, const int *offsets,
                                  bool is_run, REAL *to, int apart) {
    if (is_run) {
        for (int e = 0; e < RUN; e++)
            to[e * apart] = LOAD(t, from + offsets[0] + e);
    } else {
        for (int e = 0; e < RUN; e++)
            to[e * apart] = LOAD(t, from + offsets[e]);
    }
}

static __device__ void NAME(load)(const wpi_dnn_product &p, NAME(slices) & s, int now, long long a0,
                                  long long from0, int i0) {
    REAL *a = (REAL *)s.a; /* [SLICE][A_ROWS] */
    for (int at = (int)threadIdx.x; at < SLICE * ROWS / RUN; at += BLOCK) {
        if (p.is_a_by_rows) {
            const int l = at / (ROWS / RUN), r = at % (ROWS / RUN) * RUN;
            const long long offset = a0 + i0 + r + s.depth_a[now][l];
            const bool is_run = i0 + r + RUN <= p.rows && s.depth_a[now][l] >= 0;
            for (int e = 0; e < RUN; e++)
                a[l * A_ROWS + r + e] =
                    is_run ? LOAD(p.a, offset + e) : NAME(left)(p, s, now, a0, i0 + r + e, l);
        } else {
            const int l = at % (SLICE / RUN) * RUN, r = at / (SLICE / RUN);
            if (i0 + r < p.rows && s.is_whole[now][l / RUN])
                NAME(copy)(p.a, a0 + (i0 + r) * p.a_row, &s.depth_a[now][l], s.a_run[now][l / RUN],
                           &a[l * A_ROWS + r], A_ROWS);
            else
                for (int e = 0; e < RUN; e++)
                    a[(l + e) * A_ROWS + r] = NAME(left)(p, s, now, a0, i0 + r, l + e);
        }
    }
    for (int at = (int)threadIdx.x; at < SLICE * COLUMNS / RUN; at += BLOCK) {
        if (p.is_b_by_depth) {
            const int l = at % (SLICE / RUN) * RUN, i = at / (SLICE / RUN);
            if (s.is_whole[now][l / RUN])
                NAME(copy)(p.from, from0 + s.column_from[i], &s.depth_from[now][l],
                           s.depth_run[now][l / RUN], &s.b[l][i], COLUMNS + EACH);
            else
                for (int e = 0; e < RUN; e++)
                    s.b[l + e][i] =
                        s.depth_a[now][l + e] < 0
                            ? (REAL)0
                            : LOAD(p.from, from0 + s.column_from[i] + s.depth_from[now][l + e]);
        } else {
            const int l = at / (COLUMNS / RUN), i = at % (COLUMNS / RUN) * RUN;
            if (s.depth_a[now][l] >= 0)
                NAME(copy)(p.from, from0 + s.depth_from[now][l], &s.column_from[i],
                           s.column_run[i / RUN], &s.b[l][i], 1);
            else
                for (int e = 0; e < RUN; e++)
                    s.b[l][i + e] = 0;
        }
    }
}
#endif

/* What SLICE depths from k0 on add, below `outer`; one thread RUN of them. */
static __device__ void NAME(depths)(const wpi_dnn_product &p, NAME(slices) & s, int to, int k0,
                                    int outer) {
    if ((int)threadIdx.x >= SLICE / RUN) return;
    const int first = (int)threadIdx.x * RUN;
    for (int l = first; l < first + RUN; l++) {
        wpi_term t;
        depth_term(p, s.axes, k0 + l < outer ? k0 + l : -1, &t);
        s.depth_a[to][l] = t.a_or_to;
        s.depth_from[to][l] = t.from;
        for (int d = 0; d < WPI_DNN_SPACE; d++)
            s.depth_at[to][d][l] = t.at[d];
    }
#if RUN > 1
    s.is_whole[to][first / RUN] = k0 + first + RUN <= outer;
    s.a_run[to][first / RUN] = is_run(&s.depth_a[to][first]);
    s.depth_run[to][first / RUN] = is_run(&s.depth_from[to][first]);
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_dnn_product)(wpi_dnn_product p) {
    __shared__ NAME(slices) s;
    const int group = (int)blockIdx.y % p.groups;
    if (threadIdx.x < WPI_DNN_SPACE)
        axis_of(p, (int)blockIdx.y / p.groups, (int)threadIdx.x, &s.axes[threadIdx.x]);
    __syncthreads();
    const int columns = columns_of(p, s.axes), depth = depth_of(p, s.axes);
    const int row_tiles = (p.rows + ROWS - 1) / ROWS;
    const int i0 = (int)(blockIdx.x % (unsigned)row_tiles) * ROWS,
              j0 = (int)(blockIdx.x / (unsigned)row_tiles) * COLUMNS;
    if (j0 >= columns) return;
    const int k0 = (int)blockIdx.z * p.part_slices * SLICE;
    const int part_outer = k0 + p.part_slices * SLICE,
              outer = part_outer < depth ? part_outer : depth;
    const long long a0 = group * p.a_group, from0 = group * p.from_group;

    for (int i = (int)threadIdx.x; i < COLUMNS; i += BLOCK) {
        wpi_term t;
        column_term(p, s.axes, j0 + i < columns ? j0 + i : columns - 1, &t);
        s.column_to[i] = t.a_or_to;
        s.column_from[i] = t.from;
        for (int d = 0; d < WPI_DNN_SPACE; d++)
            s.column_at[d][i] = t.at[d];
    }
    NAME(depths)(p, s, 0, k0, outer);
    __syncthreads();
#if RUN > 1
    if ((int)threadIdx.x < COLUMNS / RUN) {
        const int i = (int)threadIdx.x * RUN;
        s.column_run[threadIdx.x] = is_run(&s.column_from[i]);
    }
    __syncthreads();
#endif

    /* Warps share rows, so that warps without any have no work. */
    const int y = (int)threadIdx.x % (COLUMNS / EACH), x = (int)threadIdx.x / (COLUMNS / EACH);
    const bool is_in = i0 + EACH * x < p.rows && j0 + EACH * y < columns;
    NAME(rows) sum[EACH];
    for (int j = 0; j < EACH; j++)
        sum[j] = 0;
    int now = 0;
    for (int k = k0; k < outer; k += SLICE, now = !now) {
        NAME(load)(p, s, now, a0, from0, i0);
        NAME(depths)(p, s, !now, k + SLICE, outer);
        __syncthreads();
        if (is_in) {
            /* A copy that only this loop uses stays in registers, on the CPU device too. */
            NAME(rows) part[EACH];
            for (int j = 0; j < EACH; j++)
                part[j] = sum[j];
            for (int l = 0; l < SLICE; l++) {
                const NAME(rows) left = s.a[l][x];
                for (int j = 0; j < EACH; j++)
                    part[j] += left * s.b[l][EACH * y + j];
            }
            for (int j = 0; j < EACH; j++)
                sum[j] = part[j];
        }
        __syncthreads();
    }
    const long long to0 = blockIdx.z * p.part_count + group * p.to_group;
    for (int j = 0; j < EACH; j++) {
        if (j0 + EACH * y + j >= columns) break;
        const long long to = to0 + s.column_to[EACH * y + j];
        for (int i = 0; i < EACH; i++) {
            const int row = i0 + EACH * x + i;
            if (row >= p.rows) break;
            if (p.partials != NULL)
                ((REAL *)p.partials)[to + row * p.to_row] = sum[j][i];
            else
                NAME(put)(p.to, to + row * p.to_row, sum[j][i], (REAL)p.alpha, (REAL)p.beta);
        }
    }
}

/* The sum of the parts; an item's offset in `packed` is that in a part. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_dnn_product_end)(wpi_dnn_product p, wpi_dnn_walk walk, int parts,
                              wpi_dnn_tensor packed) {
    FOR_EACH(item, walk.count) {
        const long long from = offset_of(walk, (unsigned)item, packed);
        REAL sum = 0;
        for (int i = 0; i < parts; i++)
            sum += ((const REAL *)p.partials)[i * p.part_count + from];
        NAME(put)(p.to, offset_of(walk, (unsigned)item, p.to), sum, (REAL)p.alpha, (REAL)p.beta);
    }
}

#if RUN > 1
#include "libraries/cudnn/product/dnn_pad.h"
#endif

static cudaError_t NAME(run_parts)(cudaStream_t stream, wpi_dnn_product *p) {
    const wpi_dnn_tensor to = p->to;
    wpi_dnn_tensor packed = to;
    const long long tiles =
        (long long)((p->rows + ROWS - 1) / ROWS) * ((p->columns + COLUMNS - 1) / COLUMNS);
    const int slices = (p->depth + SLICE - 1) / SLICE, blocks_each = p->groups * p->classes;
    const long long wanted = BLOCKS_WANTED / (tiles * blocks_each), most = slices / PART_SLICES_MIN;
    int parts = (int)(wanted < most ? wanted : most);
    parts = parts > 1 ? parts : 1;
    p->part_slices = slices == 0 ? 1 : (slices + parts - 1) / parts;
    parts = slices == 0 ? 1 : (slices + p->part_slices - 1) / p->part_slices;
    wpi_dnn_walk walk = walk_of(&to);
    if (parts > 1) {
        p->part_count = walk.count;
        const cudaError_t error =
            cudaMallocAsync(&p->partials, (size_t)parts * walk.count * sizeof(REAL), stream);
        if (error != cudaSuccess) return error;
        for (int d = 0; d < to.dims; d++)
            packed.stride[d] = walk.every[d];
    }
    wpi_dnn_product part = *p;
    if (parts > 1) wpi_dnn_product_into(&part, &packed);
    cudaError_t error =
        LAUNCH(NAME(wpk_dnn_product), dim3((unsigned)tiles, (unsigned)blocks_each, (unsigned)parts),
               &part);
    if (parts > 1) {
        if (error == cudaSuccess)
            error =
                LAUNCH(NAME(wpk_dnn_product_end), blocks(walk.count), p, &walk, &parts, &packed);
        const cudaError_t freed = cudaFreeAsync(p->partials, stream);
        if (error == cudaSuccess) error = freed;
    }
    return error;
}

static cudaError_t NAME(run)(cudaStream_t stream, wpi_dnn_product *p) {
#if RUN > 1
    if (!p->is_inside) {
        const wpi_dnn_tensor given = p->from;
        cudaError_t error = NAME(pad)(stream, p);
        if (p->from.data == given.data) return error;
        if (error == cudaSuccess) error = NAME(run_parts)(stream, p);
        const cudaError_t freed = cudaFreeAsync(p->from.data, stream);
        return error != cudaSuccess ? error : freed;
    }
#endif
    return NAME(run_parts)(stream, p);
}

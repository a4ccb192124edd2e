/* SPDX-License-Identifier: Apache-2.0 */
/** What a convolution gathers with its padding, so that no element needs a check; made once a type.
 * A thread copies the elements of one row, neighbours in memory: of an image's width, or the
 * channels of a place. */

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_dnn_pad)(wpi_dnn_tensor from, wpi_dnn_tensor to, wpi_dnn_walk rows, int along,
                      wpi_dnn_shift shift) {
    const int count = to.size[along], first = along > 1 ? shift.before[along - 2] : 0;
    FOR_EACH(item, rows.count) {
        long long source = 0;
        bool is_inside = true;
        for (int d = 0; d < 2 + WPI_DNN_SPACE; d++) {
            const int index =
                at(rows, (unsigned)item, d) - (d > 1 && d != along ? shift.before[d - 2] : 0);
            is_inside = is_inside && (unsigned)index < (unsigned)from.size[d];
            source += index * from.stride[d];
        }
        REAL *row = (REAL *)to.data + offset_of(rows, (unsigned)item, to);
        const int begin = is_inside ? first : count;
        const int end =
            is_inside && first + from.size[along] < count ? first + from.size[along] : count;
        for (int i = 0; i < begin; i++)
            row[i] = 0;
        for (int i = begin; i < end; i++)
            row[i] = LOAD(from, source + (i - first) * from.stride[along]);
        for (int i = end; i < count; i++)
            row[i] = 0;
    }
}

/* Sets p->from to a copy with zeros around it, of which no coordinate is outside. */
static cudaError_t NAME(pad)(cudaStream_t stream, wpi_dnn_product *p) {
    int along = p->is_channel_fast ? 1 : 4;
    wpi_dnn_tensor to = p->from;
    wpi_dnn_shift shift;
    to.type = sizeof(REAL) == sizeof(double) ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    for (int d = 0; d < WPI_DNN_SPACE; d++) {
        const int reach = (p->window[d] - 1) * p->dilation[d];
        if (p->way == WPI_DNN_DATA) {
            const int before = reach - p->pad[d] + p->step[d] - 1;
            shift.before[d] = before > 0 ? before / p->step[d] : 0;
            to.size[2 + d] = shift.before[d] + (p->to.size[2 + d] - 1 + p->pad[d]) / p->step[d] + 1;
        } else {
            const int places = p->way == WPI_DNN_FORWARD ? p->to.size[2 + d] : p->a.size[2 + d];
            shift.before[d] = p->pad[d];
            to.size[2 + d] = (places - 1) * p->step[d] + reach + 1;
        }
    }
    long long count = 1;
    for (int i = 0; i < 2 + WPI_DNN_SPACE; i++) { /* the dimensions from the one of neighbours on */
        const int d = p->is_channel_fast ? (i == 0 ? 1 : i == 4 ? 0 : 5 - i) : 4 - i;
        to.stride[d] = count;
        count *= to.size[d];
    }
    if (count > OFFSET_MAX) return cudaErrorMemoryAllocation;
    const cudaError_t error = cudaMallocAsync(&to.data, (size_t)count * sizeof(REAL), stream);
    if (error != cudaSuccess) return error;
    wpi_dnn_walk rows = walk_dims(&to, ~(1u << along));
    wpi_dnn_tensor from = p->from;
    p->from = to;
    for (int d = 0; d < WPI_DNN_SPACE; d++)
        p->shift[d] = shift.before[d];
    p->from_group = to.stride[1] * p->channels;
    p->is_inside = 1;
    return LAUNCH(NAME(wpk_dnn_pad), blocks(rows.count), &from, &to, &rows, &along, &shift);
}

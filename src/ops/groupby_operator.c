/* SPDX-License-Identifier: Apache-2.0 */
/* The front: checks arguments, then calls a grouper. */
#include <string.h>

#include "base/alloc.h"
#include "ops/groups.h"
#include "ops/planner.h"

struct wp_groupby {
    wpi_shape shape;
    wpi_keys *keys;
    wpi_grouper *grouper;
    bool is_sorted, is_finished;
};

static wp_status check_options(const wp_ops_options *options, wp_error *err) {
    if ((unsigned)options->strategy >= WP_STRATEGY_COUNT)
        return WP_FAIL(err, INVALID, "strategy %d is unknown", (int)options->strategy);
    if ((unsigned)options->placement >= WP_PLACEMENT_COUNT)
        return WP_FAIL(err, INVALID, "placement %d is unknown", (int)options->placement);
    if ((options->strategy == WP_STRATEGY_DIRECT || options->strategy == WP_STRATEGY_SEPO) &&
        options->scope_bytes != 0)
        return WP_FAIL(err, INVALID, "scope_bytes has no meaning with the strategy %s; set it to 0",
                       wp_strategy_name(options->strategy));
    return WP_STATUS_OK;
}

static const wpi_grouper_ops *choose(const wp_device *device, const wpi_shape *shape) {
    if (device != NULL) return &wpi_grouper_gpu;
    return wpi_shape_has_moments(shape) ? &wpi_grouper_moments : &wpi_grouper_cpu;
}

wp_status wp_groupby_open(wp_device *device, const wp_groupby_spec *spec, wp_groupby **out,
                          wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    WP_TRY(check_options(&spec->options, err));
    wp_groupby *groupby = wpi_calloc(1, sizeof *groupby);
    if (groupby == NULL) return WP_FAIL(err, NOMEM, "a group-by");
    groupby->is_sorted = spec->options.is_sorted;
    WP_TRY_GOTO(wpi_shape_init(&groupby->shape, spec, err), done);
    const wpi_grouper_ops *ops = choose(device, &groupby->shape);
    WP_TRY_GOTO(wpi_keys_create(&groupby->shape, &groupby->keys, err), done);
    WP_TRY_GOTO(
        ops->open(device, &groupby->shape, groupby->keys, &spec->options, &groupby->grouper, err),
        done);
    *out = groupby;
    groupby = NULL;
done:
    wp_groupby_close(groupby);
    return status;
}

void wp_groupby_close(wp_groupby *groupby) {
    if (groupby == NULL) return;
    if (groupby->grouper != NULL) groupby->grouper->ops->close(groupby->grouper);
    wpi_keys_destroy(groupby->keys);
    wpi_shape_deinit(&groupby->shape);
    wpi_free(groupby);
}

static wp_status check_columns(const wp_groupby *groupby, const wp_column *keys,
                               const wp_column *values, wp_error *err) {
    const wpi_shape *shape = &groupby->shape;
    for (uint32_t i = 0; i < shape->key_count; i++) {
        if (keys[i].type != shape->keys[i].type)
            return WP_FAIL(err, INVALID, "key %u has type %s, not %s as specified", i,
                           wp_type_name(keys[i].type), wp_type_name(shape->keys[i].type));
        if (keys[i].valid != NULL && !shape->keys[i].is_nullable)
            return WP_FAIL(err, INVALID, "key %u may be NULL but was not specified as nullable", i);
    }
    for (uint32_t i = 0; i < shape->value_count; i++)
        if (values[i].type != shape->values[i])
            return WP_FAIL(err, INVALID, "value %u has type %s, not %s as specified", i,
                           wp_type_name(values[i].type), wp_type_name(shape->values[i]));
    return WP_STATUS_OK;
}

wp_status wp_groupby_add(wp_groupby *groupby, const wp_column *keys, const wp_column *values,
                         uint64_t row_count, wp_error *err) {
    if (groupby->is_finished)
        return WP_FAIL(err, INVALID, "the group-by has already been finished");
    WP_TRY(check_columns(groupby, keys, values, err));
    if (row_count == 0) return WP_STATUS_OK;
    return groupby->grouper->ops->add(groupby->grouper, keys, values, row_count, err);
}

wp_status wp_groupby_finish(wp_groupby *groupby, wp_groups **out, wp_error *err) {
    *out = NULL;
    if (groupby->is_finished)
        return WP_FAIL(err, INVALID, "the group-by has already been finished");
    groupby->is_finished = true;
    return wpi_groups_create(&groupby->shape, groupby->keys, groupby->grouper, groupby->is_sorted,
                             out, err);
}

const char *wp_groupby_explain(const wp_groupby *groupby) {
    return groupby->grouper->ops->explain(groupby->grouper);
}

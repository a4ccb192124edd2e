/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/host_actors.h"
#include "device/sim/trace_recorder.h"
#include "device/sim/variables.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/param.h"
#include "device/cpu/check/access_check.h"
#include "device/host_copies.h"
#include "policy/load.h"
#include "report/recorder.h"

const wpi_param wpi_sim_params[] = {
    {"set", WP_UNIT_TEXT, "", 0, 0,
     "parameters of the simulated GPU, as in tlb.l2.entries=128, separated by ';'"},
    {"policy-files", WP_UNIT_TEXT, "", 0, 0,
     "policy files made by `wpcc --policy`, separated by ':'"},
    {0}};
enum { SET, POLICY_FILES };

static void close_device(wp_device *base) {
    wpi_sim_device *device = (wpi_sim_device *)(void *)base;
    if (device->counts_copies) wpi_host_copies_end();
    if (device->executor != NULL) {
        (void)wpi_cpu_device_wait(base, NULL);
        wpi_recorder_finish(device->recorder);
        device->recorder = NULL;
        device->cpu.executor = NULL;
        wpi_sim_executor_destroy(device->executor);
    }
    wpi_profile_destroy(device->profile);
    wpi_cpu_device_ops.close(base);
}

/* Allocates memory; managed memory is also registered with the model. */
static wp_status alloc_memory(wp_device *base, wp_memory_kind kind, size_t size_bytes,
                              uint32_t flags, void **out, wp_error *err) {
    wpi_sim_device *device = (wpi_sim_device *)(void *)base;
    WP_TRY(wpi_cpu_device_ops.memory_alloc(base, kind, size_bytes, flags, out, err));
    if (kind != WP_MEMORY_MANAGED) return WP_STATUS_OK;
    const wpi_managed_range range = {.address = (uintptr_t)*out, .bytes = size_bytes};
    const wp_status status = wpi_sim_executor_manage(device->executor, range, err);
    const wp_allocation allocation = {*out, size_bytes, kind, flags};
    if (status != WP_STATUS_OK) (void)wpi_cpu_device_ops.memory_free(base, &allocation, NULL);
    return status;
}

static wp_status free_memory(wp_device *base, const wp_allocation *allocation, wp_error *err) {
    wpi_sim_device *device = (wpi_sim_device *)(void *)base;
    if (allocation->kind == WP_MEMORY_MANAGED)
        wpi_sim_executor_unmanage(device->executor, (uintptr_t)allocation->base);
    return wpi_cpu_device_ops.memory_free(base, allocation, err);
}

static wp_status wait_for_all(wp_device *base, wp_error *err) {
    WP_TRY(wpi_cpu_device_wait(base, err));
    wpi_sim_executor_waited(((wpi_sim_device *)(void *)base)->executor);
    return WP_STATUS_OK;
}

static void advise_memory(wp_device *base, const void *address, size_t size_bytes,
                          const wpi_advice *advice) {
    wpi_sim_device *device = (wpi_sim_device *)(void *)base;
    const wpi_managed_range range = {.address = (uintptr_t)address, .bytes = size_bytes};
    wpi_sim_executor_advise(device->executor, range, advice);
}

static wp_status reset_device(wp_device *base, wp_error *err) {
    wpi_sim_device *device = (wpi_sim_device *)(void *)base;
    WP_TRY(wpi_cpu_device_ops.reset(base, err));
    wpi_sim_executor_unmanage(device->executor, 0);
    return WP_STATUS_OK;
}

/* ---- the host's side ------------------------------------------------------------------------- */

static wpi_sim_executor *executor_of(wp_device *base) {
    return ((wpi_sim_device *)(void *)base)->executor;
}

static wp_status host_work(wp_device *base, const wp_host_work *work, wp_error *err) {
    return wpi_sim_executor_host_work(executor_of(base), work, err);
}

static wp_status queue_host_work(wp_queue *queue, const wp_host_work *work, wp_error *err) {
    WP_TRY(wp_device_sticky_error(queue->device, err));
    wpi_command *command = wpi_command_create(WPI_COMMAND_HOST_WORK, 0);
    if (command != NULL) command->u.host_work = *work;
    return wpi_queue_submit((wpi_cpu_queue *)(void *)queue, command, err);
}

static wp_status start_actor(const wp_actor *actor, wp_actor **out, wp_error *err) {
    return wpi_sim_executor_start_actor(executor_of(actor->device), actor, out, err);
}

static wp_status await_actor(wp_actor *actor, wp_error *err) {
    wpi_sim_executor_await_actor(executor_of(actor->device), actor);
    return wp_device_sticky_error(actor->device, err);
}

static void free_actor(wp_actor *actor) {
    wpi_sim_executor_free_actor(executor_of(actor->device), actor);
}

static uint64_t actor_now_ns(wp_device *base) {
    return wpi_sim_executor_step_time(executor_of(base)) / WP_PS_PER_NS;
}

/* Simulates the time of a host thread's copies since its last call. The executor does so for host
 * functions and actors. */
static void arrive(wp_device *base) {
    wp_host_work copied;
    if (!wpi_queue_may_wait()) return;
    wpi_sim_executor_arrive(executor_of(base));
    if (!wpi_host_copies_take(true, &copied)) return;
    (void)base->ops->host->work(base, &copied, NULL);
    wpi_report_host_copied(copied.written_bytes);
}

static const wpi_host_ops host_ops = {
    host_work,   queue_host_work, start_actor,  wpi_actor_watch_word,
    await_actor, free_actor,      actor_now_ns, arrive};

static void fill_info(wp_device_info *info, const wpi_profile *p) {
    snprintf(info->spec, sizeof info->spec, "sim:%s", p->name);
    snprintf(info->name, sizeof info->name, "%s, simulated", p->title);
    info->sm_count = p->sm_count;
    info->compute_major = p->capability / 10;
    info->compute_minor = p->capability % 10;
    info->threads_per_sm_max = p->threads;
    info->blocks_per_sm_max = p->ctas;
    info->registers_per_sm = p->registers;
    if (info->registers_per_block > p->registers) info->registers_per_block = p->registers;
    info->register_granule = p->register_granule;
    info->schedulers = p->schedulers;
    info->shared_granule_bytes = (uint32_t)p->shared_granule_bytes;
    info->shared_reserved_bytes = (uint32_t)p->shared_reserved_bytes;
    info->shared_bytes_per_sm = p->shared_bytes;
    info->shared_bytes_per_block_optin = p->shared_bytes_per_cta;
    info->l2_bytes = p->l2.bytes;
    if (p->l1.preferred_bytes != 0) {
        info->l1_preferred_bytes = p->l1.preferred_bytes;
        info->l1_preferred_shared_bytes = p->shared_bytes - (p->l1.preferred_bytes - p->l1.bytes);
    }
    info->clock_hz = p->core_hz;
    info->memory_bus_bits = p->dram.bus_bits;
    info->memory_clock_hz = p->dram.bytes_per_s * 8 / p->dram.bus_bits / 2; /* two bits a clock */
    info->host_pointers_are_device_pointers = true;
    info->has_page_faults = p->paging.is_on;
    info->sm_groups = p->gpcs;
    info->cluster_blocks_max = p->capability >= 90 ? WP_CLUSTER_BLOCKS_MAX : 0;
}

/* Splits "a=1;b=2" into settings; ignores spaces around them. */
static void split_settings(const char *text, wpi_strings *settings) {
    while (*text != '\0') {
        text += strspn(text, " ;");
        size_t length = strcspn(text, ";");
        const char *next = text + length;
        while (length != 0 && text[length - 1] == ' ')
            length--;
        if (length != 0) wpi_strings_addf(settings, "%.*s", (int)length, text);
        text = next;
    }
}

static wp_status load_profile(const char *name, wpi_profile **out, wp_error *err) {
    wpi_param_value value, policy_files;
    WP_TRY(wpi_param_load(&wpi_sim_params[POLICY_FILES], &policy_files, err));
    WP_TRY(wpi_policy_files_load(policy_files.text, err));
    WP_TRY(wpi_param_load(&wpi_sim_params[SET], &value, err));
    wpi_strings settings = {0};
    split_settings(value.text, &settings);
    const wp_status status =
        wpi_profile_load(name, wpi_strings_argv(&settings), settings.count, out, err);
    wpi_strings_deinit(&settings);
    return status;
}

static wp_status set_peer_access(wp_device *base, wp_device *peer, bool is_on, wp_error *err) {
    WP_TRY(wpi_cpu_device_wait(base, err));
    wpi_sim_executor_set_peer(executor_of(base), peer->number, is_on);
    return WP_STATUS_OK;
}

static const wpi_device_ops sim_device_ops = {
    WPI_CPU_DEVICE_SHARED_OPS,  .kind = "sim",
    .close = close_device,      .wait = wait_for_all,
    .reset = reset_device,      .memory_alloc = alloc_memory,
    .memory_free = free_memory, .memory_advise = advise_memory,
    .host = &host_ops,          .set_peer_access = set_peer_access,
};

static void report_policy_files(void) {
    const char *path;
    uint64_t hash;
    for (size_t i = 0; wpi_policy_file_at(i, &path, &hash); i++)
        wpi_report_policy_file(path, hash);
}

static const wpi_variant *variant_instead(const wpi_cpu_device *device,
                                          const wp_trace_tables *tables) {
    return wpi_in_step_for_all(tables) ? &((const wpi_sim_device *)(const void *)device)->stepped
                                       : NULL;
}

/* After the device is initialised. */
static void choose_variants(wpi_sim_device *device) {
    const wpi_profile *p = device->profile;
    device->ahead = (wpi_variant){.kind = WP_VARIANT_TRACE,
                                  .machine_arch = p->code == WPI_CODE_PTXAS ? p->capability : 0};
    if (device->cpu.is_in_lockstep) device->ahead.rewrites = device->cpu.lockstep.rewrites;
    device->stepped = device->ahead;
    device->stepped.is_in_step = true;
    device->cpu.variant = device->in_step == WP_IN_STEP_ALWAYS ? &device->stepped : &device->ahead;
    if (device->in_step == WP_IN_STEP_AUTO) device->cpu.variant_instead = variant_instead;
}

static wp_status check_beside(const wpi_profile *profile, const wpi_sim_device *beside,
                              wp_error *err) {
    if (beside == NULL || strcmp(profile->name, beside->profile->name) == 0) return WP_STATUS_OK;
    return WP_FAIL(
        err, UNSUPPORTED,
        "the simulated GPUs of one program are of one profile; sim:%s and sim:%s are not",
        beside->profile->name, profile->name);
}

static wp_status open_with(const char *rest, wpi_sim_device *beside, bool is_one_of_several,
                           wp_device **out, wp_error *err) {
    uint64_t limit_bytes;
    WP_TRY(wpi_device_memory_limit(&limit_bytes, err));
    wpi_in_step in_step;
    WP_TRY(wpi_in_step_load(&in_step, err));
    wpi_profile *profile;
    WP_TRY(load_profile(rest, &profile, err));
    const wp_status fits = check_beside(profile, beside, err);
    if (fits != WP_STATUS_OK) {
        wpi_profile_destroy(profile);
        return fits;
    }
    wpi_sim_device *device = wpi_calloc(1, sizeof *device);
    if (device == NULL) {
        wpi_profile_destroy(profile);
        return WP_FAIL(err, NOMEM, "simulated device");
    }
    device->cpu.base.ops = &sim_device_ops;
    device->cpu.base.is_one_of_several = is_one_of_several;
    /* Pages migrate between the host and one GPU; managed memory of several stays on the host. */
    if (is_one_of_several) profile->paging.is_on = false;
    device->in_step = in_step;
    device->cpu.has_fixed_addresses = true;
    device->profile = profile;
    wp_status status =
        wpi_cpu_device_init(&device->cpu, beside != NULL ? &beside->cpu : NULL, 1,
                            limit_bytes != 0 ? limit_bytes : profile->memory_bytes, err);
    if (status != WP_STATUS_OK) { /* the device is already destroyed */
        wpi_profile_destroy(profile);
        return status;
    }
    choose_variants(device);
    fill_info(&device->cpu.base.info, profile);
    status = wpi_sim_executor_create(
        &device->cpu, profile, beside != NULL ? beside->executor : NULL, &device->executor, err);
    if (status == WP_STATUS_OK) status = wpi_recorder_create(device, &device->recorder, err);
    if (status != WP_STATUS_OK) {
        close_device(&device->cpu.base);
        return status;
    }
    device->cpu.executor = wpi_sim_executor_base(device->executor);
    device->counts_copies = profile->host.is_on;
    if (device->counts_copies) {
        wpi_host_copies_begin();
        wpi_report_host_model();
    }
    wpi_report_device(device->cpu.base.info.spec, device->cpu.base.info.name);
    report_policy_files();
    if (beside == NULL && wpi_check_is_wanted())
        wpi_log(WP_LOG_WARN, "device.check",
                "kernels are checked on the CPU only, not on %s: use the device cpu",
                device->cpu.base.info.spec);
    *out = &device->cpu.base;
    return WP_STATUS_OK;
}

static wp_status open_device(const char *rest, wp_device **out, wp_error *err) {
    return open_with(rest, NULL, false, out, err);
}

static wp_status open_beside(const char *rest, wp_device *beside, wp_device **out, wp_error *err) {
    return open_with(rest, (wpi_sim_device *)(void *)beside, true, out, err);
}

void wp_device_visit_simulated(void (*visit)(void *object, const char *spec), void *object) {
    wpi_strings names = {0};
    wpi_profile_names(&names);
    for (size_t i = 0; i < names.count; i++) {
        char spec[300];
        snprintf(spec, sizeof spec, "sim:%s", names.items[i]);
        visit(object, spec);
    }
    wpi_strings_deinit(&names);
}

wp_status wp_policy_file_load(const char *path, wp_error *err) {
    return wpi_policy_file_load(path, err);
}

typedef void (*policy_visit)(void *object, const wp_policy_info *policy);

static void visit_policy(const wpi_policy *policy, policy_visit visit, void *object) {
    visit(object, &(wp_policy_info){.kind = policy->kind,
                                    .name = policy->name,
                                    .key = wpi_profile_policy_key(policy->kind),
                                    .keys = policy->keys,
                                    .doc = policy->doc,
                                    .source = policy->source});
}

/* The library's own policies are sorted by kind; those of files follow the last of their kind. */
void wp_device_visit_policies(policy_visit visit, void *object) {
    const wpi_policy *loaded;
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        visit_policy(*p, visit, object);
        if (p[1] != NULL && strcmp(p[1]->kind, (*p)->kind) == 0) continue;
        for (size_t i = 0; (loaded = wpi_policy_loaded_at(i)) != NULL; i++)
            if (strcmp(loaded->kind, (*p)->kind) == 0) visit_policy(loaded, visit, object);
    }
}

/* Whether the key is of a TLB level that the GPU lacks. */
static bool is_of_missing_level(const wpi_profile *profile, const char *name) {
    return strncmp(name, "tlb.l", 5) == 0 && name[5] >= '1' && name[5] <= '9' &&
           (uint32_t)(name[5] - '0') > profile->tlb_levels;
}

wp_status wp_device_visit_keys(const char *spec,
                               void (*visit)(void *object, const wp_device_key *key), void *object,
                               wp_error *err) {
    if (strncmp(spec, "sim:", 4) != 0)
        return WP_FAIL(err, UNSUPPORTED,
                       "'%s' is not a simulated GPU; `warpage devices` lists them", spec);
    wpi_profile *profile;
    WP_TRY(load_profile(spec + 4, &profile, err));
    wpi_profile_value value;
    for (size_t i = 0; wpi_profile_value_at(profile, i, &value); i++) {
        if (is_of_missing_level(profile, value.name)) continue;
        visit(object, &(wp_device_key){.name = value.name,
                                       .unit = value.unit,
                                       .value = value.text,
                                       .fallback = value.fallback,
                                       .needs_future = value.needs_future,
                                       .source = value.source != NULL ? value.source : "",
                                       .doc = value.doc});
    }
    wpi_profile_destroy(profile);
    return WP_STATUS_OK;
}

const wpi_device_kind wpi_device_kind_sim = {
    .name = "sim",
    .summary = "a simulated GPU: sim:<profile>",
    .example = "k80",
    .open = open_device,
    .open_beside = open_beside,
    .place_variable = wpi_variables_place,
};

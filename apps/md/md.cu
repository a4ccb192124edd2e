/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Molecular dynamics: a crystal of noble gas, step by step in time, as each atom pulls at those
 * near it.
 *
 * Lennard-Jones forces within a cutoff, in units in which the atoms' size, mass and strength are 1.
 * The box is periodic and divided into cells no smaller than the cutoff, so that an atom's partners
 * are in its own cell and the 26 around it. A cell has SLOTS places for atoms:
 *
 *     cell 0              cell 1
 *     ●●●●●●●●●········   ●●●●●●●●●●●······   positions, velocities, forces: a slot each
 *     count 9             count 11
 *
 * A step of velocity Verlet is three launches:
 *   advance  half a kick, and the atoms move        a block a cell, a thread a slot
 *   sort     each cell collects the atoms that are now in it from the 27 cells, in their order
 *   pull     forces and energies, half a kick       a block a cell, a thread a slot
 *
 * Cells, slots and partners are gone through in a fixed order and every multiply-add is a fused one
 * by name, so all devices and the serial check agree to the bit. Cells and methods are those of
 * CoMD, whose sorting has a fixed order, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define SLOTS 64
#define SORT_THREADS 64
#define NEIGHBOURS 27
#define CUTOFF 2.5
#define DENSITY 0.8442 /* atoms in a unit of volume */
#define STEP 0.004     /* of time */
#define CUTOFF_ENERGY                                                                              \
    (-0.016316891136) /* of a pair at the cutoff: subtracted, so that none jumps */

typedef struct vector {
    double x;
    double y;
    double z;
} vector;

/* A cube of cells. */
typedef struct box {
    double side;
    double cells_per_length;
    uint32_t cells_per_side; /* at least 3 */
    uint32_t cell_count;
} box;

/* The atoms, by slot. */
typedef struct atoms {
    vector *position;
    vector *velocity;
    uint32_t *count; /* by cell */
} atoms;

/* ---- what happens to a slot or a cell, for the kernels and the check ------------------------- */

/* Of any place, even none. */
static __host__ __device__ __forceinline__ uint32_t cell_on_axis(box b, double place) {
    double cell = place * b.cells_per_length;
    if (!(cell > 0.0)) {
        return 0;
    }
    return cell < b.cells_per_side ? (uint32_t)cell : b.cells_per_side - 1;
}

static __host__ __device__ __forceinline__ uint32_t cell_at(box b, vector r) {
    return (cell_on_axis(b, r.z) * b.cells_per_side + cell_on_axis(b, r.y)) * b.cells_per_side +
           cell_on_axis(b, r.x);
}

/* A step of -1, 0 or 1 from a cell along an axis; `*shift` is where the box repeats there. */
static __host__ __device__ __forceinline__ uint32_t walk(box b, uint32_t from, int step,
                                                         double *shift) {
    *shift = 0.0;
    if (step < 0 && from == 0) {
        *shift = -b.side;
        return b.cells_per_side - 1;
    }
    if (step > 0 && from == b.cells_per_side - 1) {
        *shift = b.side;
        return 0;
    }
    return (uint32_t)((int)from + step);
}

/* Neighbour 0 to 26 of a cell, itself among them; `*shift` belongs to its atoms' positions. */
static __host__ __device__ __forceinline__ uint32_t neighbour(box b, uint32_t cell, int number,
                                                              vector *shift) {
    uint32_t n = b.cells_per_side;
    uint32_t x = walk(b, cell % n, number % 3 - 1, &shift->x);
    uint32_t y = walk(b, cell / n % n, number / 3 % 3 - 1, &shift->y);
    uint32_t z = walk(b, cell / n / n, number / 9 - 1, &shift->z);
    return (z * n + y) * n + x;
}

static __host__ __device__ __forceinline__ void kick(vector *velocity, vector force, double time) {
    velocity->x = fma(time, force.x, velocity->x);
    velocity->y = fma(time, force.y, velocity->y);
    velocity->z = fma(time, force.z, velocity->z);
}

static __host__ __device__ __forceinline__ double move(box b, double place, double speed) {
    double next = fma(STEP, speed, place);
    return next < 0.0 ? next + b.side : next >= b.side ? next - b.side : next;
}

static __host__ __device__ __forceinline__ void advance_atom(box b, vector *position,
                                                             vector *velocity, vector force) {
    kick(velocity, force, 0.5 * STEP);
    position->x = move(b, position->x, velocity->x);
    position->y = move(b, position->y, velocity->y);
    position->z = move(b, position->z, velocity->z);
}

static __host__ __device__ __forceinline__ void collect(box b, atoms from, atoms to,
                                                        uint32_t cell) {
    uint32_t count = 0;
    for (int number = 0; number < NEIGHBOURS; number++) {
        vector shift;
        uint32_t other = neighbour(b, cell, number, &shift);
        for (uint32_t slot = 0; slot < from.count[other]; slot++) {
            size_t at = (size_t)other * SLOTS + slot;
            if (cell_at(b, from.position[at]) == cell && count < SLOTS) {
                to.position[(size_t)cell * SLOTS + count] = from.position[at];
                to.velocity[(size_t)cell * SLOTS + count] = from.velocity[at];
                count++;
            }
        }
    }
    to.count[cell] = count;
}

/* What one atom does to another that is `d` away. A pair's energy is half each one's. */
static __host__ __device__ __forceinline__ void pull_pair(vector d, vector *force, double *energy) {
    double square = fma(d.x, d.x, fma(d.y, d.y, d.z * d.z));
    if (square > CUTOFF * CUTOFF) {
        return;
    }
    double s = 1.0 / square;
    double s3 = s * s * s;
    double strength = 24.0 * s * fma(2.0 * s3, s3, -s3);
    force->x = fma(strength, d.x, force->x);
    force->y = fma(strength, d.y, force->y);
    force->z = fma(strength, d.z, force->z);
    *energy = fma(2.0, fma(s3, s3, -s3), *energy) - 0.5 * CUTOFF_ENERGY;
}

static __host__ __device__ __forceinline__ void pull_atom(box b, const vector *position,
                                                          const uint32_t *count, uint32_t cell,
                                                          uint32_t slot, vector *force,
                                                          double *energy) {
    size_t at = (size_t)cell * SLOTS + slot;
    vector here = position[at];
    vector sum = {0.0, 0.0, 0.0};
    double energy_sum = 0.0;
    for (int number = 0; number < NEIGHBOURS; number++) {
        vector shift;
        uint32_t other_cell = neighbour(b, cell, number, &shift);
        for (uint32_t other = 0; other < count[other_cell]; other++) {
            vector there = position[(size_t)other_cell * SLOTS + other];
            vector d = {here.x - (there.x + shift.x), here.y - (there.y + shift.y),
                        here.z - (there.z + shift.z)};
            if (other_cell != cell || other != slot) {
                pull_pair(d, &sum, &energy_sum);
            }
        }
    }
    force[at] = sum;
    energy[at] = energy_sum;
}

/* ---- the kernels ----------------------------------------------------------------------------- */

__global__ void advance(box b, atoms a, const vector *force) {
    size_t at = (size_t)blockIdx.x * SLOTS + threadIdx.x;
    if (threadIdx.x < a.count[blockIdx.x]) {
        advance_atom(b, &a.position[at], &a.velocity[at], force[at]);
    }
}

__global__ void sort(box b, atoms from, atoms to) {
    uint32_t cell = blockIdx.x * SORT_THREADS + threadIdx.x;
    if (cell < b.cell_count) {
        collect(b, from, to, cell);
    }
}

/* `kick_time` is 0 before the first step. */
__global__ void pull(box b, atoms a, vector *force, double *energy, double kick_time) {
    size_t at = (size_t)blockIdx.x * SLOTS + threadIdx.x;
    if (threadIdx.x < a.count[blockIdx.x]) {
        pull_atom(b, a.position, a.count, blockIdx.x, threadIdx.x, force, energy);
        kick(&a.velocity[at], force[at], kick_time);
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static box make_box(uint32_t crystals_per_side) {
    double crystal_side = cbrt(4.0 / DENSITY);
    box b;
    b.side = crystals_per_side * crystal_side;
    b.cells_per_side = (uint32_t)(b.side / CUTOFF);
    b.cells_per_length = b.cells_per_side / b.side;
    b.cell_count = b.cells_per_side * b.cells_per_side * b.cells_per_side;
    return b;
}

/* Random, with a mean of 0 and the mean square that the temperature asks for. */
static void generate_velocities(vector *velocity, uint64_t count, double temperature,
                                uint64_t seed) {
    app_random random = {seed, 0};
    vector sum = {0.0, 0.0, 0.0};
    double squares = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        vector v = {app_random_unit(&random), app_random_unit(&random), app_random_unit(&random)};
        velocity[i] = v;
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
    }
    for (uint64_t i = 0; i < count; i++) {
        vector *v = &velocity[i];
        v->x -= sum.x / (double)count;
        v->y -= sum.y / (double)count;
        v->z -= sum.z / (double)count;
        squares += v->x * v->x + v->y * v->y + v->z * v->z;
    }
    double scale = sqrt(3.0 * temperature * (double)count / squares);
    for (uint64_t i = 0; i < count; i++) {
        velocity[i].x *= scale;
        velocity[i].y *= scale;
        velocity[i].z *= scale;
    }
}

/* A face-centred cubic crystal. Returns the number of atoms. */
static uint64_t generate(atoms a, box b, uint32_t crystals_per_side, double temperature,
                         uint64_t seed) {
    static const double basis[4][3] = {
        {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
    uint64_t n = crystals_per_side;
    uint64_t atom_count = 4 * n * n * n;
    double crystal_side = b.side / (double)n;
    vector *velocity = (vector *)app_allocate(atom_count, sizeof *velocity, "velocities");
    generate_velocities(velocity, atom_count, temperature, seed);
    memset(a.count, 0, b.cell_count * sizeof *a.count);
    for (uint64_t i = 0; i < atom_count; i++) {
        const double *offset = basis[i % 4];
        uint64_t crystal = i / 4;
        vector r = {((double)(crystal % n) + offset[0]) * crystal_side,
                    ((double)(crystal / n % n) + offset[1]) * crystal_side,
                    ((double)(crystal / n / n) + offset[2]) * crystal_side};
        uint32_t cell = cell_at(b, r);
        size_t at = (size_t)cell * SLOTS + a.count[cell]++;
        a.position[at] = r;
        a.velocity[at] = velocity[i];
    }
    free(velocity);
    return atom_count;
}

/* ---- check, output --------------------------------------------------------------------------- */

typedef struct energies {
    double potential; /* all per atom */
    double kinetic;
} energies;

/* Fails if atoms were lost: a cell has no more slots, or one moved farther than a cell. */
static energies sum_energies(box b, const vector *velocity, const uint32_t *count,
                             const double *energy, uint64_t atom_count) {
    energies sum = {0.0, 0.0};
    uint64_t found = 0;
    for (uint32_t cell = 0; cell < b.cell_count; cell++) {
        found += count[cell];
        for (uint32_t slot = 0; slot < count[cell]; slot++) {
            size_t at = (size_t)cell * SLOTS + slot;
            vector v = velocity[at];
            sum.potential += energy[at];
            sum.kinetic += 0.5 * (v.x * v.x + v.y * v.y + v.z * v.z);
        }
    }
    if (found != atom_count) {
        app_fail("%s of %s atoms are left: the others left a cell too fast, or found a full one; "
                 "use a lower --temperature",
                 app_count(found), app_count(atom_count));
    }
    sum.potential /= (double)atom_count;
    sum.kinetic /= (double)atom_count;
    return sum;
}

static void print_energies(uint64_t step, energies e) {
    printf("%9s %12.8f %12.8f %12.8f %12.6f\n", app_count(step), e.potential, e.kinetic,
           e.potential + e.kinetic, e.kinetic / 1.5);
}

static atoms allocate_atoms(box b) {
    size_t slot_count = (size_t)b.cell_count * SLOTS;
    atoms a;
    a.position = (vector *)app_allocate(slot_count, sizeof *a.position, "the check");
    a.velocity = (vector *)app_allocate(slot_count, sizeof *a.velocity, "the check");
    a.count = (uint32_t *)app_allocate(b.cell_count, sizeof *a.count, "the check");
    return a;
}

static void free_atoms(atoms *a) {
    free(a->position);
    free(a->velocity);
    free(a->count);
}

static void serial_pull(box b, atoms a, vector *force, double *energy, double kick_time) {
    for (uint32_t cell = 0; cell < b.cell_count; cell++) {
        for (uint32_t slot = 0; slot < a.count[cell]; slot++) {
            size_t at = (size_t)cell * SLOTS + slot;
            pull_atom(b, a.position, a.count, cell, slot, force, energy);
            kick(&a.velocity[at], force[at], kick_time);
        }
    }
}

static void serial_step(box b, atoms from, atoms to, vector *force, double *energy) {
    for (uint32_t cell = 0; cell < b.cell_count; cell++) {
        for (uint32_t slot = 0; slot < from.count[cell]; slot++) {
            size_t at = (size_t)cell * SLOTS + slot;
            advance_atom(b, &from.position[at], &from.velocity[at], force[at]);
        }
    }
    for (uint32_t cell = 0; cell < b.cell_count; cell++) {
        collect(b, from, to, cell);
    }
    serial_pull(b, to, force, energy, 0.5 * STEP);
}

/* The largest difference between the atoms, INFINITY if they are in other cells. */
static double difference(box b, atoms x, atoms y) {
    double largest = 0.0;
    for (uint32_t cell = 0; cell < b.cell_count; cell++) {
        size_t at = (size_t)cell * SLOTS;
        if (x.count[cell] != y.count[cell]) {
            return (double)INFINITY;
        }
        size_t doubles = (size_t)x.count[cell] * 3;
        largest =
            fmax(largest, app_doubles_difference(&x.position[at].x, &y.position[at].x, doubles));
        largest =
            fmax(largest, app_doubles_difference(&x.velocity[at].x, &y.velocity[at].x, doubles));
    }
    return largest;
}

static bool check(box b, atoms result, uint32_t crystals_per_side, double temperature,
                  uint64_t steps, uint64_t seed) {
    size_t slot_count = (size_t)b.cell_count * SLOTS;
    atoms a[2] = {allocate_atoms(b), allocate_atoms(b)};
    vector *force = (vector *)app_allocate(slot_count, sizeof *force, "the check");
    double *energy = (double *)app_allocate(slot_count, sizeof *energy, "the check");
    uint64_t atom_count = generate(a[0], b, crystals_per_side, temperature, seed);
    serial_pull(b, a[0], force, energy, 0.0);
    for (uint64_t step = 0; step < steps; step++) {
        serial_step(b, a[step % 2], a[(step + 1) % 2], force, energy);
    }
    double largest = difference(b, result, a[steps % 2]);
    printf("check      %s atoms against %s serial steps: %s, largest difference %g\n",
           app_count(atom_count), app_count(steps), largest == 0.0 ? "equal" : "DIFFERENT",
           largest);
    free_atoms(&a[0]);
    free_atoms(&a[1]);
    free(force);
    free(energy);
    return largest == 0.0;
}

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct arrays {
    app_array position[2]; /* they take turns */
    app_array velocity[2];
    app_array count[2];
    app_array force;
    app_array energy;
} arrays;

static void create_arrays(app_device *device, arrays *a, box b) {
    size_t slot_count = (size_t)b.cell_count * SLOTS;
    for (int i = 0; i < 2; i++) {
        app_role role = i == 0 ? APP_ROLE_UPDATED : APP_ROLE_STATE;
        app_array_create(device, &a->position[i], slot_count, sizeof(vector), "positions", role);
        app_array_create(device, &a->velocity[i], slot_count, sizeof(vector), "velocities", role);
        app_array_create(device, &a->count[i], b.cell_count, sizeof(uint32_t), "cells", role);
    }
    app_array_create(device, &a->force, slot_count, sizeof(vector), "forces", APP_ROLE_STATE);
    app_array_create(device, &a->energy, slot_count, sizeof(double), "energies", APP_ROLE_STATE);
}

static void free_arrays(app_device *device, arrays *a) {
    for (int i = 0; i < 2; i++) {
        app_array_free(device, &a->position[i]);
        app_array_free(device, &a->velocity[i]);
        app_array_free(device, &a->count[i]);
    }
    app_array_free(device, &a->force);
    app_array_free(device, &a->energy);
}

static atoms on_device(const arrays *a, uint64_t turn) {
    atoms result = {(vector *)a->position[turn % 2].device, (vector *)a->velocity[turn % 2].device,
                    (uint32_t *)a->count[turn % 2].device};
    return result;
}

static atoms on_host(const arrays *a, uint64_t turn) {
    atoms result = {(vector *)a->position[turn % 2].host, (vector *)a->velocity[turn % 2].host,
                    (uint32_t *)a->count[turn % 2].host};
    return result;
}

static energies read_energies(app_device *device, arrays *a, box b, uint64_t turn,
                              uint64_t atom_count) {
    app_array_to_host(device, &a->velocity[turn % 2]);
    app_array_to_host(device, &a->count[turn % 2]);
    app_array_to_host(device, &a->energy);
    atoms host = on_host(a, turn);
    return sum_energies(b, host.velocity, host.count, (const double *)a->energy.host, atom_count);
}

static void take_steps(app_device *device, arrays *a, box b, uint64_t steps) {
    vector *force = (vector *)a->force.device;
    for (uint64_t step = 0; step < steps; step++) {
        atoms from = on_device(a, step);
        atoms to = on_device(a, step + 1);
        app_kernels_begin(device);
        advance<<<b.cell_count, SLOTS>>>(b, from, force);
        sort<<<app_blocks(b.cell_count, SORT_THREADS), SORT_THREADS>>>(b, from, to);
        pull<<<b.cell_count, SLOTS>>>(b, to, force, (double *)a->energy.device, 0.5 * STEP);
        app_kernels_end(device, "a time step", 3);
    }
}

int main(int argc, char **argv) {
    const app_program program = {"md", "molecular dynamics of a crystal",
                                 "atoms, rounded down to a cube of crystals, or bytes such as 1GiB",
                                 NULL, "md --size 32000 --iterations 100 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t steps = 10;
    double temperature = 1.0;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &steps, "N", 1, 1e9, "time steps"},
        {"--temperature", APP_OPTION_REAL, &temperature, "X", 0, 10,
         "initial temperature; half of it becomes potential energy of the crystal"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    const double atom_bytes = SLOTS * 128.0 / (DENSITY * CUTOFF * CUTOFF * CUTOFF);
    uint64_t wanted = app_size_items(common.size, atom_bytes, 2048, 500, UINT64_C(1) << 32);
    uint32_t crystals = 5;
    while (4ull * (crystals + 1) * (crystals + 1) * (crystals + 1) <= wanted) {
        crystals++;
    }
    box b = make_box(crystals);

    app_device device;
    arrays a;
    app_device_open(&device, common.memory);
    create_arrays(&device, &a, b);
    uint64_t atom_count = generate(on_host(&a, 0), b, crystals, temperature, common.seed);
    app_array_to_device(&device, &a.position[0]);
    app_array_to_device(&device, &a.velocity[0]);
    app_array_to_device(&device, &a.count[0]);
    app_kernels_begin(&device);
    pull<<<b.cell_count, SLOTS>>>(b, on_device(&a, 0), (vector *)a.force.device,
                                  (double *)a.energy.device, 0.0);
    app_kernels_end(&device, "pull", 1);
    energies first = read_energies(&device, &a, b, 0, atom_count);
    take_steps(&device, &a, b, steps);
    energies last = read_energies(&device, &a, b, steps, atom_count);

    printf("crystal    %u x %u x %u times 4 atoms, %s in all, seed %llu\n", crystals, crystals,
           crystals, app_count(atom_count), (unsigned long long)common.seed);
    printf("cells      %u x %u x %u of %d slots, %.2f atoms in each\n\n", b.cells_per_side,
           b.cells_per_side, b.cells_per_side, SLOTS, (double)atom_count / b.cell_count);
    printf("     step    potential      kinetic        total  temperature\n");
    print_energies(0, first);
    print_energies(steps, last);
    putchar('\n');
    app_device_report(&device, (double)atom_count * (double)steps, "atoms");
    bool is_right = true;
    if (common.check) {
        app_array_to_host(&device, &a.position[steps % 2]);
        is_right = check(b, on_host(&a, steps), crystals, temperature, steps, common.seed);
    }
    free_arrays(&device, &a);
    app_device_close(&device);
    return is_right ? 0 : 1;
}

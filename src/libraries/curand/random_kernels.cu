/* SPDX-License-Identifier: Apache-2.0 */
/* cuRAND's host API is its device API, a thread a stream. */
#include <curand_kernel.h>

#include "libraries/curand/mersenne_twister.h"
#include "libraries/curand/random_shared.h"

#define BLOCK 128

#define NAME(x) x##_xorwow
#define STATE curandStateXORWOW_t
#include "libraries/curand/random_stream.h"
#undef NAME
#undef STATE

#define NAME(x) x##_mrg32k3a
#define STATE curandStateMRG32k3a_t
#include "libraries/curand/random_stream.h"
#undef NAME
#undef STATE

#define NAME(x) x##_philox
#define STATE curandStatePhilox4_32_10_t
#include "libraries/curand/random_stream.h"
#undef NAME
#undef STATE

#define NAME(x) x##_mersenne
#define STATE mersenne_twister
#include "libraries/curand/random_stream.h"

extern "C" const wpi_random_launches wpi_random[WPI_RANDOM_KINDS] = {
    {sizeof(curandStateXORWOW_t), start_xorwow, draw_xorwow},
    {sizeof(curandStateMRG32k3a_t), start_mrg32k3a, draw_mrg32k3a},
    {sizeof(curandStatePhilox4_32_10_t), start_philox, draw_philox},
    {sizeof(mersenne_twister) + MT_WORDS * sizeof(unsigned int), start_mersenne, draw_mersenne}};

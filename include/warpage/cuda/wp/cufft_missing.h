/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of cuFFT that have no implementation: WP_CUFFT_MISSING(name) each. Included several times.
 */
WP_CUFFT_MISSING(cufftXtSetGPUs)
WP_CUFFT_MISSING(cufftXtMalloc)
WP_CUFFT_MISSING(cufftXtMemcpy)
WP_CUFFT_MISSING(cufftXtFree)
WP_CUFFT_MISSING(cufftXtExecDescriptor)
WP_CUFFT_MISSING(cufftXtExecDescriptorC2C)
WP_CUFFT_MISSING(cufftXtExecDescriptorR2C)
WP_CUFFT_MISSING(cufftXtExecDescriptorC2R)
WP_CUFFT_MISSING(cufftXtExecDescriptorZ2Z)
WP_CUFFT_MISSING(cufftXtExecDescriptorD2Z)
WP_CUFFT_MISSING(cufftXtExecDescriptorZ2D)
WP_CUFFT_MISSING(cufftXtSetWorkArea)
WP_CUFFT_MISSING(cufftXtQueryPlan)
WP_CUFFT_MISSING(cufftXtSetWorkAreaPolicy)
WP_CUFFT_MISSING(cufftSetPlanPropertyInt64)

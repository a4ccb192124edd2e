# SPDX-License-Identifier: Apache-2.0
# Only simulated GPUs have keys.
warpage params --device cpu

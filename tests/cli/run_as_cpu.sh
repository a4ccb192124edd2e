# SPDX-License-Identifier: Apache-2.0
# --as is of simulated GPUs.
warpage run --device cpu --as uvmsmart true

# SPDX-License-Identifier: Apache-2.0
# What happens to pages is known on simulated GPUs; elsewhere nothing is run.
warpage run --device cpu --pages here "$CASES/programs/records" 0

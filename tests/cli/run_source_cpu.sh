# SPDX-License-Identifier: Apache-2.0
# What a line costs is known on simulated GPUs; elsewhere nothing is run.
warpage run --device cpu --source "$CASES/programs/records" 0

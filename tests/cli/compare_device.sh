# SPDX-License-Identifier: Apache-2.0
# Comparisons are of simulated GPUs.
warpage compare --vary device=sim:k80,cpu -- true

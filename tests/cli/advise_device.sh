# SPDX-License-Identifier: Apache-2.0
# Policies are those of simulated GPUs.
warpage advise --device cpu -- true

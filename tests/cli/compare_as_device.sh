# SPDX-License-Identifier: Apache-2.0
# --as is of --device, not of GPUs that are compared.
warpage compare --as uvmsmart --vary device=sim:k80,sim:p100 -- true

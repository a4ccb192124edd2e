# SPDX-License-Identifier: Apache-2.0
# The clock is that of a simulated GPU; elsewhere nothing is run.
warpage run --device cpu --simulated-clock "$CASES/programs/records" 0

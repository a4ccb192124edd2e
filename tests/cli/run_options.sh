# SPDX-License-Identifier: Apache-2.0
# Options become settings of the program.
warpage run --device cpu --device-memory 1GiB --workers=3 "$CASES/programs/records" 0

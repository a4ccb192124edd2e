# SPDX-License-Identifier: Apache-2.0
# A device that does not exist is refused before the program starts.
warpage run --device cpuu "$CASES/programs/records"

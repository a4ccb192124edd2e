# SPDX-License-Identifier: Apache-2.0
# A file that is no program.
echo text >file; warpage run ./file

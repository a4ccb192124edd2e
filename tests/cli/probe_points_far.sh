# SPDX-License-Identifier: Apache-2.0
# More than there is to be probed.
warpage probe points --device sim:k80 --max-memory 1GiB far=64MiB*17

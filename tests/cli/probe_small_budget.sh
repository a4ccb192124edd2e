# SPDX-License-Identifier: Apache-2.0
# Too little time: nothing is invented.
warpage probe --device sim:k80 --budget 1ms

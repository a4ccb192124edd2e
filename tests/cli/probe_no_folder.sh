# SPDX-License-Identifier: Apache-2.0
# Before anything is measured.
warpage probe --device sim:k80 --write-profile none/my.ini

# SPDX-License-Identifier: Apache-2.0
# More workers than the device has room for are refused before the program begins.
warpage run --workers 99999 ./no-such-program

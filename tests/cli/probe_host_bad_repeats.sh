# SPDX-License-Identifier: Apache-2.0
# No number of repetitions.
warpage probe host --repeats 0

# SPDX-License-Identifier: Apache-2.0
# A name that is close to nothing gets the help page.
warpage frobnicate

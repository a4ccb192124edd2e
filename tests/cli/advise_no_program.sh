# SPDX-License-Identifier: Apache-2.0
# Advice is for a program.
warpage advise

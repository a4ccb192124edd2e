# SPDX-License-Identifier: Apache-2.0
# Findings, and what each enables.
warpage doctor

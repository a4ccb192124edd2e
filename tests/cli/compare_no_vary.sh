# SPDX-License-Identifier: Apache-2.0
# What should differ?
warpage compare -- true

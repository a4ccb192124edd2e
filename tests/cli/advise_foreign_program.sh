# SPDX-License-Identifier: Apache-2.0
# A program that wpcc did not build leaves no trace.
warpage advise -- true

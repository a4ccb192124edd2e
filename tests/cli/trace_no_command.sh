# SPDX-License-Identifier: Apache-2.0
# Which of its commands?
warpage trace

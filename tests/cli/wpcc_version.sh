# SPDX-License-Identifier: Apache-2.0
# What makefiles and CMake look for in nvcc's answer.
wpcc --version

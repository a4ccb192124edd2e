# SPDX-License-Identifier: Apache-2.0
# The profile's folder does not exist.
warpage probe host --output /nonexistent/host.ini

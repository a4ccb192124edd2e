# SPDX-License-Identifier: Apache-2.0
echo "{}" >a.json
warpage probe diff a.json a.json

# SPDX-License-Identifier: Apache-2.0
# wp_configs(): the profiles of simulated GPUs, <prefix>/lib/warpage/configs, in the build tree and installed.
function(wp_configs)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/configs ${CMAKE_CURRENT_BINARY_DIR}/lib/warpage/configs
         SYMBOLIC)
    install(DIRECTORY configs DESTINATION lib/warpage FILES_MATCHING PATTERN "*.ini")
endfunction()

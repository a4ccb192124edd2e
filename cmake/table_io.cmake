# SPDX-License-Identifier: Apache-2.0
# Tables in files, for the command.
file(GLOB table_io_sources CONFIGURE_DEPENDS src/table_io/*.c)
add_library(wptable_io STATIC ${table_io_sources})
target_link_libraries(wptable_io PUBLIC wpbase libwarpage_ops PkgConfig::ZLIB PkgConfig::ZSTD
                      Threads::Threads m)

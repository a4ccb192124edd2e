/* SPDX-License-Identifier: Apache-2.0 */
/** Names of functions in loaded programs and libraries, static ones too where they are not
 * stripped.
 */
#ifndef WP_DEVICE_SIM_SYMBOL_H
#define WP_DEVICE_SIM_SYMBOL_H

/** "main+0x1d in app" for a return address, C++ names without parameters; "app+0x11d" if no name is
 * known; NULL if nothing is loaded there. The caller frees it (wpi_free). Slow: reads the file. Any
 * thread. */
char *wpi_symbol_describe(const void *return_address);

/** Sets a function that names addresses first: those of a replayed program. It returns NULL for
 * other addresses. NULL: none. */
void wpi_symbol_set_namer(char *(*namer)(const void *return_address));

#endif

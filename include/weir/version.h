/* The version of these headers; weir_version() tells that of the library in use.
 *
 * While the major version is 0, what a program was built with fits libraries of the same minor
 * version only; a new patch version changes nothing that it could notice. */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#define WEIR_VERSION "0.2.0"
#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 2
#define WEIR_VERSION_PATCH 0

/* For comparisons: 1.2.3 is 10203. */
#define WEIR_VERSION_NUMBER                                                                        \
    (WEIR_VERSION_MAJOR * 10000 + WEIR_VERSION_MINOR * 100 + WEIR_VERSION_PATCH)

#endif

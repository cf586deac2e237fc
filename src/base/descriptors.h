// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error of a program that was started without one of them.
#ifndef TENURE_BASE_DESCRIPTORS_H
#define TENURE_BASE_DESCRIPTORS_H

// Occupies those of the descriptors 0 to 2 that are closed; a read or write there goes on to fail with EBADF. Otherwise the next file or connection
// would get that number, and what the program prints would be written into it. A program calls it before all else.
void descriptors_occupy(void);

#endif

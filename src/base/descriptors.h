// SPDX-License-Identifier: Apache-2.0
// Descriptors that a process was given: standard ones that are closed, and those of the process that forked it.
#ifndef TENURE_BASE_DESCRIPTORS_H
#define TENURE_BASE_DESCRIPTORS_H

// Occupies those of the descriptors 0 to 2 that are closed; a read or write there goes on to fail with EBADF. Otherwise the next
// file or connection would get that number, and what the program prints would be written into it. A program calls it before all
// else.
void descriptors_occupy(void);

// In a process that was forked to work apart from its parent: lets go of all descriptors but standard output and error. Standard
// input becomes /dev/null: in a worker without a master it is the listening socket, and as long as a process has that open, a web
// server takes it for one that serves, and clients wait for it. Log lines go where they went (log_close_inherited()).
void descriptors_drop(void);

#endif

// Counts this process's heap allocations by standing in for malloc and its kin (glibc keeps the real ones reachable as
// __libc_*). Linked into measuring programs only.
#pragma once
#include <stdint.h>

/// Allocations since the process started, all threads together.
int64_t allocation_count(void);

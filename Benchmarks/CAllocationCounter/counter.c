#include "counter.h"
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic int64_t count;

// The sanitizers stand in for malloc themselves; two stand-ins do not go together, so nothing is counted under them.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

int64_t allocation_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

#if !SANITIZED

static void *counted(void *pointer) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return pointer;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return counted(__libc_calloc(number, size)); }
void *realloc(void *pointer, size_t size) { return counted(__libc_realloc(pointer, size)); }
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **pointer, size_t alignment, size_t size) {
    void *made = counted(__libc_memalign(alignment, size));
    if (made == NULL) return ENOMEM;
    *pointer = made;
    return 0;
}

#endif

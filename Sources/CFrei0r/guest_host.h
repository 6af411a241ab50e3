// What Patchbay and its helper program patchbay-guest say to each other: a block of shared memory, and one byte at a time
// over a socket. And calls that Swift cannot import because they are GNU extensions or macros.
#pragma once
// No _GNU_SOURCE here: with it, glibc's types differ from those of Swift's own Glibc module, which a debug build refuses.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// Descriptors that the helper inherits.
enum { PATCH_GUEST_SOCKET = 3, PATCH_GUEST_MEMORY = 4 };
/// Requests and answers, one byte each. 'E' is followed by a message.
enum { PATCH_GUEST_FRAME = 'F', PATCH_GUEST_READY = 'R', PATCH_GUEST_DONE = 'D', PATCH_GUEST_ERROR = 'E' };
/// Floats of all parameters together, and input pictures, at most.
enum { PATCH_GUEST_PARAMETERS = 1024, PATCH_GUEST_INPUTS = 3 };

/// Begins the shared memory; pictures follow at `offsets`, 4 bytes a pixel, rows without gaps.
struct patch_guest_block {
    /// Size of the pictures: whole multiples of 8, as frei0r wants them.
    uint32_t width, height;
    uint32_t inputs;
    /// Seconds of graph time.
    double time;
    /// Bytes from the beginning of the block to each input picture and to the result.
    uint64_t input_offsets[PATCH_GUEST_INPUTS];
    uint64_t output_offset;
    /// Values in the order of the plugin's parameters: bool and double one, position two, colour three, text none.
    uint32_t parameter_count;
    double parameters[PATCH_GUEST_PARAMETERS];
};

int memfd_create(const char *name, unsigned int flags);
/// MFD_CLOEXEC is 1.
static inline int patch_memfd(const char *name) { return memfd_create(name, 1U); }
/// Dl_info of <dlfcn.h>.
struct patch_image { const char *file; void *base; const char *symbol; void *address; };
#ifndef _GNU_SOURCE
int dladdr(const void *address, void *image);
int pipe2(int ends[2], int flags);
#endif
/// The file that holds the code or data at an address (dladdr); NULL when none is known.
static inline const char *patch_image_of(const void *address) {
    struct patch_image image;
    return dladdr(address, (void *)&image) != 0 ? image.file : 0;
}
/// A pair of sockets that keep messages apart, closed on exec.
static inline int patch_socketpair(int *ends) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }
/// How a child ended: its exit code, or the signal's number as a negative number.
static inline int patch_exit_status(int status) {
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
/// Without a signal when nobody reads any more.
static inline long patch_send(int socket, const void *bytes, unsigned long count) {
    return send(socket, bytes, count, MSG_NOSIGNAL);
}

// GNU libmicrohttpd's HTTP server (Debian package libmicrohttpd-dev). Its calls take options as C's "...", which Swift cannot pass.
#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <stddef.h>

/// A server on a thread of its own that calls `answer` for each request, or NULL with `errno` set. A connection that is idle for
/// four seconds is closed; there are at most 32 at a time, with 32 KB for what each asks.
static inline struct MHD_Daemon *patch_http_start(
    const struct sockaddr_in *address, MHD_AccessHandlerCallback answer, void *context) {
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, answer, context,
        MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)address, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
        MHD_OPTION_CONNECTION_LIMIT, 32u, MHD_OPTION_CONNECTION_TIMEOUT, 4u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
}

/// The port that the server listens on; 0 when it is not known.
static inline int patch_http_port(struct MHD_Daemon *server) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

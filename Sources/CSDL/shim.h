// SDL 2 (Debian package libsdl2-dev).
#pragma once
#include <SDL2/SDL.h>
#include <SDL2/SDL_syswm.h>

/// The X11 connection that a window lives on (SDL_GetWindowWMInfo; the union and SDL_VERSION do not import), or NULL.
static inline void *patch_x11_display(SDL_Window *window) {
#ifdef SDL_VIDEO_DRIVER_X11
    SDL_SysWMinfo info;
    SDL_VERSION(&info.version);
    if (SDL_GetWindowWMInfo(window, &info) && info.subsystem == SDL_SYSWM_X11) return info.info.x11.display;
#else
    (void)window;
#endif
    return NULL;
}

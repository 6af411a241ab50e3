// SDL 2 (Debian package libsdl2-dev).
#pragma once
#include <SDL2/SDL.h>

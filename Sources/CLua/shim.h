// Lua 5.4 (Debian package liblua5.4-dev): the headers, and shims for what Swift cannot import.
#pragma once
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

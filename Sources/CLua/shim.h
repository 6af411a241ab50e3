// Lua 5.4 (Debian package liblua5.4-dev): the headers, and shims for what Swift cannot import or must not do.
//
// Lua raises errors by longjmp, which must not cross a Swift frame. So Swift functions are called by `patch_trampoline`,
// which raises for them after they have returned; and while Swift runs, the allocator never fails.
#pragma once
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct patch_guard;

// A Swift function: results on the stack, their count returned; or an error value on top and -1.
typedef int (*patch_dispatch)(lua_State *L, struct patch_guard *guard, int function);

// What a state may use, shared by all its coroutines (its address lies in lua_getextraspace).
typedef struct patch_guard {
    lua_State *main;
    void *owner;              // the Swift object, unretained
    patch_dispatch dispatch;
    size_t used;              // bytes
    size_t limit;             // bytes; Swift code may overrun it, the trampoline then raises
    int64_t deadline;         // CLOCK_MONOTONIC nanoseconds; 0 is none
    int in_swift;             // above 0 while Swift runs: allocation does not fail
    int expired;              // the deadline has passed: every further instruction raises
    int exhausted;            // an allocation was refused for memory
    int line;                 // where the script was when it was stopped; 0 when unknown
    char source[LUA_IDSIZE];
} patch_guard;

// What every userdata of a state holds; there are no others, so a tag suffices to know it.
typedef struct patch_handle {
    int32_t tag, a, b, c;
} patch_handle;

static inline patch_guard *patch_guard_of(lua_State *L) { return *(patch_guard **)lua_getextraspace(L); }

static inline int64_t patch_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Notes the innermost Lua line of a script (chunks named "=…" are our own library). Allocates nothing. Where no line runs, as while
// a stack that overflowed is made smaller again, the note stays as it was.
static inline void patch_note_place(patch_guard *guard, lua_State *L) {
    lua_Debug ar;
    for (int level = 0; level < 64 && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && ar.source[0] != '=') {
            guard->line = ar.currentline;
            memcpy(guard->source, ar.short_src, sizeof guard->source);
            return;
        }
    }
}

static inline void *patch_allocate(void *context, void *block, size_t old, size_t size) {
    patch_guard *guard = (patch_guard *)context;
    if (block == NULL) old = 0;  // then `old` is the kind of object
    if (size == 0) {
        free(block);
        guard->used -= old;
        return NULL;
    }
    if (size > old && !guard->in_swift) {
        if (guard->used + (size - old) > guard->limit) {
            guard->exhausted = 1;
            if (guard->main) patch_note_place(guard, guard->main);
            return NULL;
        }
        // Between two hooks a script can ask for a few hundred huge strings; so they look at the clock too.
        if (size - old >= 65536 && guard->deadline && patch_now() > guard->deadline) {
            if (!guard->expired && guard->main) patch_note_place(guard, guard->main);
            guard->expired = 1;
            return NULL;
        }
    }
    void *grown = realloc(block, size);
    if (grown) guard->used += size - old;
    return grown;
}

// Runs every few hundred instructions and at every call. Once the time is over it raises at every instruction, so that
// pcall, coroutines and error handlers only peel off one layer each.
static inline void patch_hook(lua_State *L, lua_Debug *ar) {
    (void)ar;
    patch_guard *guard = patch_guard_of(L);
    if (!guard->expired) {
        if (!guard->deadline || patch_now() <= guard->deadline) return;
        guard->expired = 1;
        patch_note_place(guard, L);
    }
    lua_sethook(L, patch_hook, LUA_MASKCOUNT | LUA_MASKCALL, 1);
    luaL_error(L, "the script ran out of time");
}

static inline void patch_arm(lua_State *L) { lua_sethook(L, patch_hook, LUA_MASKCOUNT | LUA_MASKCALL, 200); }

static inline int patch_trampoline(lua_State *L) {
    patch_guard *guard = patch_guard_of(L);
    int function = (int)lua_tointeger(L, lua_upvalueindex(1));
    guard->in_swift++;
    int results = guard->dispatch(L, guard, function);
    guard->in_swift--;
    if (results < 0) return lua_error(L);
    if (guard->used > guard->limit) {
        lua_gc(L, LUA_GCCOLLECT);
        if (guard->used > guard->limit) {
            guard->exhausted = 1;
            patch_note_place(guard, L);
            return luaL_error(L, "not enough memory");
        }
    }
    return results;
}

// Pushes Swift function `function` as a Lua function; `extra` values on the stack become upvalues 2… of it.
static inline void patch_push_function(lua_State *L, int function, int extra) {
    lua_pushinteger(L, function);
    lua_insert(L, -1 - extra);
    lua_pushcclosure(L, patch_trampoline, 1 + extra);
}

static inline int patch_upvalue(int index) { return lua_upvalueindex(index); }
static inline int patch_registry(void) { return LUA_REGISTRYINDEX; }

// lua_pcall from Swift: inside, budgets hold again.
static inline int patch_call(lua_State *L, int arguments, int results, int handler) {
    patch_guard *guard = patch_guard_of(L);
    int in_swift = guard->in_swift;
    guard->in_swift = 0;
    int status = lua_pcall(L, arguments, results, handler);
    guard->in_swift = in_swift;
    return status;
}

// luaL_loadbufferx, text only.
static inline int patch_load(lua_State *L, const char *text, size_t size, const char *name) {
    patch_guard *guard = patch_guard_of(L);
    int in_swift = guard->in_swift;
    guard->in_swift = 0;
    int status = luaL_loadbufferx(L, text, size, name, "t");
    guard->in_swift = in_swift;
    return status;
}

// Lua 5.4.4 joins three and more values (a .. b .. c) through a pointer into its stack that is stale once a metamethod has made
// the stack larger or a collection has made it smaller (mended in 5.4.5): the result is wrong, and freed memory is written
// to. So stacks have this many places from the start, and keep them: what the lowest frame claims is never given back.
enum { patch_stack = 8000, patch_coroutine_stack = 1000 };

// coroutine.create with such a stack.
static inline int patch_coroutine(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *coroutine = lua_newthread(L);
    if (!lua_checkstack(coroutine, patch_coroutine_stack)) return luaL_error(L, "not enough memory");
    lua_pushvalue(L, 1);
    lua_xmove(L, coroutine, 1);
    return 1;
}

static inline int patch_open_libraries(lua_State *L) {
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
    luaL_requiref(L, LUA_UTF8LIBNAME, luaopen_utf8, 1);
    luaL_requiref(L, LUA_OSLIBNAME, luaopen_os, 1);
    lua_getglobal(L, LUA_COLIBNAME);
    lua_pushcfunction(L, patch_coroutine);
    lua_setfield(L, -2, "create");
    return 0;
}

// A new state with the standard tables, or NULL when there is no memory.
static inline lua_State *patch_new_state(patch_guard *guard) {
    lua_State *L = lua_newstate(patch_allocate, guard);
    if (L == NULL) return NULL;
    *(patch_guard **)lua_getextraspace(L) = guard;
    guard->main = L;
    lua_pushcfunction(L, patch_open_libraries);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK || !lua_checkstack(L, patch_stack)) {
        lua_close(L);
        return NULL;
    }
    patch_arm(L);
    return L;
}

static inline patch_handle *patch_new_handle(lua_State *L) {
    return (patch_handle *)lua_newuserdatauv(L, sizeof(patch_handle), 0);
}

static inline patch_handle *patch_to_handle(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(patch_handle)) return NULL;
    return (patch_handle *)lua_touserdata(L, index);
}

// The line and chunk name of the innermost Lua function that called the running C function, or 0.
// `source` stays valid while that function exists.
static inline int patch_current_line(lua_State *L, const char **source) {
    lua_Debug ar;
    for (int level = 0; level < 64 && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && ar.source[0] != '=') {
            *source = ar.source;
            return ar.currentline;
        }
    }
    return 0;
}

// Chunk name and first and last line of the function on top of the stack, which is left there.
static inline const char *patch_function_place(lua_State *L, int *first, int *last) {
    lua_Debug ar;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &ar);
    *first = ar.linedefined;
    *last = ar.lastlinedefined;
    return ar.source;
}

static inline void patch_pop(lua_State *L, int count) { lua_settop(L, -count - 1); }
static inline void patch_remove(lua_State *L, int index) { lua_remove(L, index); }
static inline void patch_insert(lua_State *L, int index) { lua_insert(L, index); }
static inline lua_Integer patch_to_integer(lua_State *L, int index) { return lua_tointeger(L, index); }
static inline lua_Number patch_to_number(lua_State *L, int index) { return lua_tonumber(L, index); }
static inline const char *patch_to_bytes(lua_State *L, int index, size_t *size) { return lua_tolstring(L, index, size); }
static inline size_t patch_count_kilobytes(lua_State *L) { return (size_t)lua_gc(L, LUA_GCCOUNT); }
static inline void patch_collect(lua_State *L) { lua_gc(L, LUA_GCCOLLECT); }

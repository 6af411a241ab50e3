// patchbay-guest: runs one frei0r plugin in a process of its own, so that a plugin that crashes or hangs takes nothing
// with it. Patchbay starts it; it is of no use by hand.
//
//   patchbay-guest describe FILE                    writes what the plugin is and takes to descriptor 3, a line a fact
//   patchbay-guest run FILE WIDTH HEIGHT [TEXT…]    computes pictures in the shared memory of descriptor 4 when told so on
//                                                   the socket of descriptor 3; texts are the text parameters, in order
//
// The plugin interface (frei0r 1.2, https://frei0r.dyne.org) is declared here anew: names, order of fields and numbers are
// what plugins are compiled with.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "../CFrei0r/guest_host.h"
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { TYPE_FILTER = 0, TYPE_SOURCE = 1, TYPE_MIXER2 = 2, TYPE_MIXER3 = 3 };
enum { PARAM_BOOL = 0, PARAM_DOUBLE = 1, PARAM_COLOR = 2, PARAM_POSITION = 3, PARAM_STRING = 4 };

struct plugin_info {
    const char *name, *author;
    int type, color_model, frei0r_version, major_version, minor_version, parameter_count;
    const char *explanation;
};
struct parameter_info {
    const char *name;
    int type;
    const char *explanation;
};
struct color {
    float r, g, b;
};
struct position {
    double x, y;
};
typedef void *instance;

/// A plugin's functions.
static struct {
    int (*init)(void);
    void (*get_info)(struct plugin_info *);
    void (*get_parameter_info)(struct parameter_info *, int);
    instance (*construct)(unsigned, unsigned);
    void (*set)(instance, void *, int);
    void (*get)(instance, void *, int);
    void (*update)(instance, double, const uint32_t *, uint32_t *);
    void (*update2)(instance, double, const uint32_t *, const uint32_t *, const uint32_t *, uint32_t *);
} plugin;
static struct plugin_info info;

__attribute__((noreturn)) static void fail(const char *what, const char *why) {
    char message[512] = {PATCH_GUEST_ERROR};
    snprintf(message + 1, sizeof message - 1, "%s%s%s", what, why ? ": " : "", why ? why : "");
    if (send(PATCH_GUEST_SOCKET, message, strlen(message), MSG_NOSIGNAL) < 0 && errno == ENOTSOCK) {
        (void)!write(PATCH_GUEST_SOCKET, message, strlen(message));
    }
    _exit(1);
}

static void *symbol(void *library, const char *name) { return dlsym(library, name); }

static void load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("it cannot be loaded", dlerror());
    plugin.init = symbol(library, "f0r_init");
    plugin.get_info = symbol(library, "f0r_get_plugin_info");
    plugin.get_parameter_info = symbol(library, "f0r_get_param_info");
    plugin.construct = symbol(library, "f0r_construct");
    plugin.set = symbol(library, "f0r_set_param_value");
    plugin.get = symbol(library, "f0r_get_param_value");
    plugin.update = symbol(library, "f0r_update");
    plugin.update2 = symbol(library, "f0r_update2");
    if (!plugin.get_info || !plugin.construct) fail("it is no frei0r plugin", NULL);
    if (plugin.init) plugin.init();
    plugin.get_info(&info);
    if (info.parameter_count < 0 || info.parameter_count > 256) fail("it has an impossible number of parameters", NULL);
    int is_mixer = info.type == TYPE_MIXER2 || info.type == TYPE_MIXER3;
    if (info.type < TYPE_FILTER || info.type > TYPE_MIXER3) fail("it is of a kind that is not known", NULL);
    if (is_mixer ? !plugin.update2 : !plugin.update && !plugin.update2) fail("it has no update function", NULL);
}

// MARK: describe

/// Text without what separates fields and lines.
static void print_text(FILE *file, const char *text) {
    for (const char *c = text ? text : ""; *c; c++) fputc(*c == '\t' || *c == '\n' || *c == '\r' ? ' ' : *c, file);
}

static void describe(void) {
    FILE *file = fdopen(PATCH_GUEST_SOCKET, "w");
    if (!file) _exit(1);
    fprintf(file, "plugin\t%d\t%d\t%d.%d\t", info.type, info.color_model, info.major_version, info.minor_version);
    print_text(file, info.name);
    fputc('\t', file);
    print_text(file, info.author);
    fputc('\t', file);
    print_text(file, info.explanation);
    fputc('\n', file);
    instance made = plugin.construct(64, 64);
    for (int i = 0; i < info.parameter_count; i++) {
        struct parameter_info parameter = {0};
        plugin.get_parameter_info(&parameter, i);
        fprintf(file, "parameter\t%d\t", parameter.type);
        double number = 0;
        struct color color = {0};
        struct position position = {0};
        char *text = NULL;
        int known = made && plugin.get;
        switch (parameter.type) {
        case PARAM_BOOL:
        case PARAM_DOUBLE:
            if (known) plugin.get(made, &number, i);
            fprintf(file, "%.9g", number);
            break;
        case PARAM_COLOR:
            if (known) plugin.get(made, &color, i);
            fprintf(file, "%.9g %.9g %.9g", color.r, color.g, color.b);
            break;
        case PARAM_POSITION:
            if (known) plugin.get(made, &position, i);
            fprintf(file, "%.9g %.9g", position.x, position.y);
            break;
        case PARAM_STRING:
            if (known) plugin.get(made, &text, i);
            print_text(file, text);
            break;
        default: break;
        }
        fputc('\t', file);
        print_text(file, parameter.name);
        fputc('\t', file);
        print_text(file, parameter.explanation);
        fputc('\n', file);
    }
    fprintf(file, "end\n");
    fflush(file);
    // Without the plugin's clean-up: some crash in it.
    _exit(0);
}

// MARK: run

/// Ends the process when Patchbay is gone, also while the plugin works.
static void *watch(void *unused) {
    (void)unused;
    struct pollfd end = {.fd = PATCH_GUEST_SOCKET, .events = POLLRDHUP};
    while (poll(&end, 1, -1) >= 0 || errno == EINTR) {
        if (end.revents & (POLLHUP | POLLRDHUP | POLLERR)) _exit(0);
    }
    return NULL;
}

/// Bits of alpha that all pixels have, and bits that any has: a loop that compilers make wide.
static void scan_alpha(const uint32_t *pixels, size_t count, unsigned *all, unsigned *any) {
    uint32_t both = 0xffffffff, either = 0;
    for (size_t i = 0; i < count; i++) {
        both &= pixels[i];
        either |= pixels[i];
    }
    *all = both >> 24;
    *any = either >> 24;
}

/// Divides colour by alpha: frei0r's colours are straight, the graph's premultiplied. Tells whether all is opaque.
static int make_straight(uint8_t *pixels, size_t count) {
    unsigned all, any;
    scan_alpha((const uint32_t *)pixels, count, &all, &any);
    if (all == 255) return 1;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        unsigned alpha = pixels[3];
        if (alpha == 255 || alpha == 0) continue;
        for (int c = 0; c < 3; c++) {
            unsigned value = (pixels[c] * 255u + alpha / 2) / alpha;
            pixels[c] = (uint8_t)(value > 255 ? 255 : value);
        }
    }
    return 0;
}

/// Multiplies colour by alpha. Plugins that know nothing of alpha leave it zero everywhere: of opaque pictures they make
/// opaque ones.
static void make_premultiplied(uint8_t *pixels, size_t count, int was_opaque) {
    unsigned all, any;
    scan_alpha((const uint32_t *)pixels, count, &all, &any);
    if (all == 255) return;
    if (any == 0 && was_opaque) {
        for (size_t i = 0; i < count; i++) pixels[4 * i + 3] = 255;
        return;
    }
    for (size_t i = 0; i < count; i++, pixels += 4) {
        unsigned alpha = pixels[3];
        if (alpha == 255) continue;
        for (int c = 0; c < 3; c++) pixels[c] = (uint8_t)((pixels[c] * alpha + 127) / 255);
    }
}

static void set_parameters(instance made, const struct patch_guest_block *block, char **texts, int text_count) {
    if (!plugin.set) return;
    uint32_t next = 0;
    int text = 0;
    for (int i = 0; i < info.parameter_count; i++) {
        struct parameter_info parameter = {0};
        plugin.get_parameter_info(&parameter, i);
        const double *values = block->parameters + next;
        uint32_t count = parameter.type == PARAM_COLOR ? 3 : parameter.type == PARAM_POSITION ? 2
            : parameter.type == PARAM_STRING ? 0 : 1;
        if (next + count > block->parameter_count) return;
        next += count;
        switch (parameter.type) {
        case PARAM_BOOL:
        case PARAM_DOUBLE: {
            double number = values[0];
            plugin.set(made, &number, i);
            break;
        }
        case PARAM_COLOR: {
            struct color color = {(float)values[0], (float)values[1], (float)values[2]};
            plugin.set(made, &color, i);
            break;
        }
        case PARAM_POSITION: {
            struct position position = {values[0], values[1]};
            plugin.set(made, &position, i);
            break;
        }
        case PARAM_STRING:
            if (text < text_count) plugin.set(made, &texts[text], i);
            text++;
            break;
        default: break;
        }
    }
}

static void run(unsigned width, unsigned height, char **texts, int text_count) {
    off_t size = lseek(PATCH_GUEST_MEMORY, 0, SEEK_END);
    if (size < (off_t)sizeof(struct patch_guest_block)) fail("no shared memory", NULL);
    struct patch_guest_block *block =
        mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, PATCH_GUEST_MEMORY, 0);
    if (block == MAP_FAILED) fail("no shared memory", strerror(errno));
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) fail("no thread", NULL);
    instance made = plugin.construct(width, height);
    if (!made) fail("it cannot work on pictures of this size", NULL);
    double last[PATCH_GUEST_PARAMETERS] = {0};
    int is_first = 1;
    char word = PATCH_GUEST_READY;
    if (send(PATCH_GUEST_SOCKET, &word, 1, MSG_NOSIGNAL) != 1) _exit(0);
    size_t pixels = (size_t)width * height;
    while (recv(PATCH_GUEST_SOCKET, &word, 1, 0) == 1 && word == PATCH_GUEST_FRAME) {
        if (is_first || memcmp(last, block->parameters, block->parameter_count * sizeof(double)) != 0) {
            set_parameters(made, block, texts, text_count);
            memcpy(last, block->parameters, block->parameter_count * sizeof(double));
            is_first = 0;
        }
        uint8_t *base = (uint8_t *)block;
        const uint32_t *inputs[PATCH_GUEST_INPUTS] = {0};
        int opaque = 1;
        for (uint32_t i = 0; i < block->inputs && i < PATCH_GUEST_INPUTS; i++) {
            opaque &= make_straight(base + block->input_offsets[i], pixels);
            inputs[i] = (const uint32_t *)(base + block->input_offsets[i]);
        }
        uint32_t *output = (uint32_t *)(base + block->output_offset);
        if (info.type == TYPE_MIXER2 || info.type == TYPE_MIXER3 || !plugin.update) {
            plugin.update2(made, block->time, inputs[0], inputs[1], inputs[2], output);
        } else {
            plugin.update(made, block->time, inputs[0], output);
        }
        make_premultiplied((uint8_t *)output, pixels, opaque);
        word = PATCH_GUEST_DONE;
        if (send(PATCH_GUEST_SOCKET, &word, 1, MSG_NOSIGNAL) != 1) break;
    }
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "patchbay-guest runs plugins for patchbay; it is not started by hand\n");
        return 2;
    }
    // What the plugin must not have: other files of Patchbay, new privileges, core dumps in the way.
    int is_run = strcmp(argv[1], "run") == 0;
    close_range(is_run ? PATCH_GUEST_MEMORY + 1 : PATCH_GUEST_SOCKET + 1, ~0u, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    load(argv[2]);
    if (!is_run) {
        describe();
    } else if (argc >= 5) {
        run((unsigned)strtoul(argv[3], NULL, 10), (unsigned)strtoul(argv[4], NULL, 10), argv + 5, argc - 5);
    }
    return 2;
}

// A frei0r plugin for the tests: it inverts, and crashes, hangs, aborts or prints when it is told to. Built by the tests.
#include <frei0r.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct state {
    unsigned width, height;
    double crash, hang;
    f0r_param_color_t tint;
    f0r_param_position_t spot;
    double invert;
    char text[64];
};

int f0r_init(void) { return 1; }
void f0r_deinit(void) {}

void f0r_get_plugin_info(f0r_plugin_info_t *info) {
    info->name = "Mis\tbehave";
    info->author = "Patchbay's tests";
    info->plugin_type = F0R_PLUGIN_TYPE_FILTER;
    info->color_model = F0R_COLOR_MODEL_RGBA8888;
    info->frei0r_version = FREI0R_MAJOR_VERSION;
    info->major_version = 1;
    info->minor_version = 0;
    info->num_params = 6;
    info->explanation = "Does what it should not";
}

void f0r_get_param_info(f0r_param_info_t *info, int index) {
    static const f0r_param_info_t all[] = {
        {"1_Crash now", F0R_PARAM_DOUBLE, "crashes above a half"}, {"Hang", F0R_PARAM_DOUBLE, "never returns above a half"},
        {"INVERT", F0R_PARAM_BOOL, "inverts"}, {"Tint", F0R_PARAM_COLOR, "is added"},
        {"Spot", F0R_PARAM_POSITION, "is white"}, {"Name", F0R_PARAM_STRING, "a text"}};
    *info = all[index];
}

f0r_instance_t f0r_construct(unsigned width, unsigned height) {
    // The standard's rule, which hosts must keep.
    if (width % 8 != 0 || height % 8 != 0) return NULL;
    struct state *state = calloc(1, sizeof *state);
    state->width = width;
    state->height = height;
    state->invert = 1;
    state->spot.x = state->spot.y = 0.25;
    snprintf(state->text, sizeof state->text, "hello");
    printf("a plugin may print: %u\n", width);
    return state;
}

void f0r_destruct(f0r_instance_t instance) { free(instance); }

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
    struct state *state = instance;
    switch (index) {
    case 0: state->crash = *(double *)value; break;
    case 1: state->hang = *(double *)value; break;
    case 2: state->invert = *(double *)value; break;
    case 3: state->tint = *(f0r_param_color_t *)value; break;
    case 4: state->spot = *(f0r_param_position_t *)value; break;
    case 5: snprintf(state->text, sizeof state->text, "%s", *(char **)value); break;
    }
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
    struct state *state = instance;
    switch (index) {
    case 0: *(double *)value = state->crash; break;
    case 1: *(double *)value = state->hang; break;
    case 2: *(double *)value = state->invert; break;
    case 3: *(f0r_param_color_t *)value = state->tint; break;
    case 4: *(f0r_param_position_t *)value = state->spot; break;
    case 5: *(char **)value = state->text; break;
    }
}

void f0r_update(f0r_instance_t instance, double time, const uint32_t *in, uint32_t *out) {
    struct state *state = instance;
    if (state->crash > 0.5) *(volatile int *)16 = 1;
    while (state->hang > 0.5) usleep(1000);
    uint32_t tint = (uint32_t)(state->tint.r * 255) | (uint32_t)(state->tint.g * 255) << 8
        | (uint32_t)(state->tint.b * 255) << 16;
    for (unsigned i = 0; i < state->width * state->height; i++) {
        uint32_t rgb = in[i] & 0xffffff;
        if (state->invert >= 0.5) rgb = 0xffffff - rgb;
        out[i] = (in[i] & 0xff000000) | (rgb | tint);
    }
    unsigned x = (unsigned)(state->spot.x * (state->width - 1)), y = (unsigned)(state->spot.y * (state->height - 1));
    out[y * state->width + x] = 0xffffffff;
    // The text's first letter and the time in the first pixel's red and green.
    out[0] = 0xff000000 | (uint8_t)state->text[0] | (uint32_t)(uint8_t)(time * 10) << 8;
}

// A mixer of two: the left half of the first, the right half of the second; it knows nothing of alpha.
#include <frei0r.h>
#include <stdlib.h>

static unsigned width, height;
int f0r_init(void) { return 1; }
void f0r_deinit(void) {}
void f0r_get_plugin_info(f0r_plugin_info_t *info) {
    *info = (f0r_plugin_info_t){"Cover", "Patchbay's tests", F0R_PLUGIN_TYPE_MIXER2, F0R_COLOR_MODEL_BGRA8888, 1, 1, 0, 0, ""};
}
void f0r_get_param_info(f0r_param_info_t *info, int index) { (void)info, (void)index; }
f0r_instance_t f0r_construct(unsigned w, unsigned h) {
    width = w;
    height = h;
    return malloc(1);
}
void f0r_destruct(f0r_instance_t instance) { free(instance); }
void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index) { (void)instance, (void)value, (void)index; }
void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index) { (void)instance, (void)value, (void)index; }
void f0r_update2(f0r_instance_t instance, double time, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *out) {
    (void)instance, (void)time, (void)c;
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++) {
            unsigned i = y * width + x;
            out[i] = (x < width / 2 ? a[i] : b[i]) & 0xffffff;
        }
}

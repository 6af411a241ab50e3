// libebur128: loudness by EBU R 128 and ITU-R BS.1770 (Debian package libebur128-dev).
#pragma once
#include <ebur128.h>
// Macros of shifted enum values that Swift does not import.
static const int patch_ebur128_modes =
    EBUR128_MODE_I | EBUR128_MODE_M | EBUR128_MODE_S | EBUR128_MODE_TRUE_PEAK | EBUR128_MODE_HISTOGRAM;

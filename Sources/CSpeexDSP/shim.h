// speexdsp's noise suppression (Debian package libspeexdsp-dev).
#pragma once
#include <speex/speex_preprocess.h>

// FFmpeg's libraries (Debian packages libav*-dev): the headers, and shims for the macros that Swift cannot import.
#pragma once
#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/time.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// AVERROR(e) is a macro over errno values.
static inline int patch_averror(int e) { return AVERROR(e); }
static inline int patch_averror_eof(void) { return AVERROR_EOF; }
static inline int64_t patch_nopts(void) { return AV_NOPTS_VALUE; }

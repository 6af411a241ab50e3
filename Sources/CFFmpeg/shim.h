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
static inline int patch_averror_exit(void) { return AVERROR_EXIT; }
static inline int64_t patch_nopts(void) { return AV_NOPTS_VALUE; }

/// A frame's duration in its time base; the field was renamed in FFmpeg 6.
static inline int64_t patch_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_MAJOR >= 58
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}
static inline void patch_set_frame_duration(AVFrame *frame, int64_t duration) {
#if LIBAVUTIL_VERSION_MAJOR >= 58
    frame->duration = duration;
#else
    frame->pkt_duration = duration;
#endif
}

/// The nine numbers of a stream's display matrix, or NULL; stream side data moved to the parameters in FFmpeg 6.1.
static inline const int32_t *patch_stream_display_matrix(const AVStream *stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data && data->size >= 36 ? (const int32_t *)data->data : NULL;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data((AVStream *)stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= 36 ? (const int32_t *)data : NULL;
#endif
}

/// A frame's own display matrix (JPEG with an EXIF orientation, H.264 SEI), or NULL.
static inline const int32_t *patch_frame_display_matrix(const AVFrame *frame) {
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    return data && data->size >= 36 ? (const int32_t *)data->data : NULL;
}

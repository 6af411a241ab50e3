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
static inline int patch_averror_invaliddata(void) { return AVERROR_INVALIDDATA; }
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

// Video4Linux: what libavdevice does not tell about a camera. ioctl is variadic and its request codes are macros.
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>

static inline int patch_v4l2_capability(int fd, struct v4l2_capability *capability) {
    return ioctl(fd, VIDIOC_QUERYCAP, capability);
}
static inline int patch_v4l2_format(int fd, uint32_t index, struct v4l2_fmtdesc *format) {
    memset(format, 0, sizeof *format);
    format->index = index;
    format->type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return ioctl(fd, VIDIOC_ENUM_FMT, format);
}
/// Size `index` of a pixel format; of a range of sizes only the largest is told.
static inline int patch_v4l2_size(int fd, uint32_t format, uint32_t index, uint32_t *width, uint32_t *height) {
    struct v4l2_frmsizeenum size;
    memset(&size, 0, sizeof size);
    size.index = index;
    size.pixel_format = format;
    int status = ioctl(fd, VIDIOC_ENUM_FRAMESIZES, &size);
    if (status != 0) return status;
    int discrete = size.type == V4L2_FRMSIZE_TYPE_DISCRETE;
    *width = discrete ? size.discrete.width : size.stepwise.max_width;
    *height = discrete ? size.discrete.height : size.stepwise.max_height;
    return 0;
}
/// Frame interval `index` of a pixel format and size, as a fraction of a second; of a range only the shortest is told.
static inline int patch_v4l2_rate(
    int fd, uint32_t format, uint32_t width, uint32_t height, uint32_t index, uint32_t *numerator,
    uint32_t *denominator) {
    struct v4l2_frmivalenum interval;
    memset(&interval, 0, sizeof interval);
    interval.index = index;
    interval.pixel_format = format;
    interval.width = width;
    interval.height = height;
    int status = ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, &interval);
    if (status != 0) return status;
    struct v4l2_fract shortest =
        interval.type == V4L2_FRMIVAL_TYPE_DISCRETE ? interval.discrete : interval.stepwise.min;
    *numerator = shortest.numerator;
    *denominator = shortest.denominator;
    return 0;
}

// libavfilter: what changed between its versions, and macros.
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/avstring.h>

/// The pixel formats that a buffersink takes, ended by AV_PIX_FMT_NONE (av_opt_set_int_list is a macro).
static inline int patch_set_sink_formats(AVFilterContext *sink, const int32_t *formats, int count) {
    return av_opt_set_bin(
        sink, "pix_fmts", (const uint8_t *)formats, count * (int)sizeof(int32_t), AV_OPT_SEARCH_CHILDREN);
}
/// Whether the buffer source has options for matrix and range (FFmpeg 7).
static inline int patch_buffer_has_colour(void) { return LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 16, 100); }
/// Whether a filter takes commands while it runs; FFmpeg 8 hides it, and avfilter_graph_send_command then decides.
static inline int patch_takes_commands(const AVFilter *filter) {
#if LIBAVFILTER_VERSION_MAJOR < 11
    return filter->process_command != NULL;
#else
    return 1;
#endif
}
static inline int patch_runtime_flag(void) { return AV_OPT_FLAG_RUNTIME_PARAM; }
/// Lays the planes of a picture into one buffer (av_image_fill_arrays), whose arrays Swift sees as tuples.
static inline int patch_fill_arrays(AVFrame *frame, uint8_t *buffer, int alignment) {
    return av_image_fill_arrays(
        frame->data, frame->linesize, buffer, (enum AVPixelFormat)frame->format, frame->width, frame->height,
        alignment);
}
/// Lays the planes of sound one after the other into one buffer; arrays are tuples in Swift. At most 8 channels.
static inline void patch_lay_rows(AVFrame *frame, uint8_t *buffer, int channels, int bytes) {
    for (int channel = 0; channel < channels && channel < AV_NUM_DATA_POINTERS; channel++)
        frame->data[channel] = buffer + (size_t)channel * bytes;
    frame->extended_data = frame->data;
    frame->linesize[0] = bytes;
}
/// One channel's samples of a frame of planar floats.
static inline float *_Nonnull patch_sound_row(const AVFrame *_Nonnull frame, int channel) {
    return (float *)frame->extended_data[channel];
}

/// Whether 5.1, with its surround called back or side, has all channels of a layout; one without names is the usual one of its size.
static inline int patch_fits_5_1(const AVChannelLayout *_Nonnull layout) {
  AVChannelLayout usual = {0};
  if (layout->order != AV_CHANNEL_ORDER_NATIVE) av_channel_layout_default(&usual, layout->nb_channels);
  uint64_t mask = layout->order == AV_CHANNEL_ORDER_NATIVE ? layout->u.mask : usual.order == AV_CHANNEL_ORDER_NATIVE ? usual.u.mask : ~0ull;
  return !(mask & ~AV_CH_LAYOUT_5POINT1) || !(mask & ~AV_CH_LAYOUT_5POINT1_BACK);
}

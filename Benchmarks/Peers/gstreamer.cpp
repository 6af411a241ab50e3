// GStreamer: appsrc → elements → appsink in one process; a frame's time is from pushing it to pulling the result.
//
// The elements run on appsrc's own streaming thread; `threads` is what an element's n-threads property takes, where it
// has one. There is no vignette among the base, good and bad plugins, so W1 is done without (less work), and no Sobel.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "peer.hpp"

static std::string gstFormat(const std::string &format) { return format == "rgba" ? "RGBA" : "I420"; }

class Pipeline {
    GstElement *pipeline = nullptr, *source = nullptr, *sink = nullptr;
    GstBuffer *input = nullptr;
    GstSample *result = nullptr;
    guint64 count = 0;

  public:
    Pipeline(const Picture &in, const std::string &elements, const std::string &outFormat) {
        const std::string size = ",width=" + std::to_string(in.width) + ",height=" + std::to_string(in.height) +
            ",framerate=25/1,pixel-aspect-ratio=1/1,interlace-mode=progressive";
        const std::string colors = in.format == "rgba" ? ",colorimetry=sRGB" : ",colorimetry=bt601";
        const std::string outColors = outFormat == "rgba" ? ",colorimetry=sRGB" : ",colorimetry=bt601";
        const auto text = "appsrc name=in is-live=false format=time max-buffers=4 block=true caps=video/x-raw,format=" +
            gstFormat(in.format) + size + colors + " ! " + elements + " ! video/x-raw,format=" + gstFormat(outFormat) +
            size + outColors + " ! appsink name=out sync=false max-buffers=1";
        GError *error = nullptr;
        pipeline = gst_parse_launch(text.c_str(), &error);
        if (error) throw Failure(text + ": " + error->message);
        source = gst_bin_get_by_name(GST_BIN(pipeline), "in");
        sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
        GstVideoInfo info;
        gst_video_info_set_format(
            &info, in.format == "rgba" ? GST_VIDEO_FORMAT_RGBA : GST_VIDEO_FORMAT_I420, in.width, in.height);
        input = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
        GstVideoFrame frame;
        gst_video_frame_map(&frame, &info, input, GST_MAP_WRITE);
        for (int p = 0; p < in.planes(); p++)
            for (int y = 0; y < in.rows(p); y++)
                std::memcpy(
                    static_cast<uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        size_t(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
                    in.plane[p] + size_t(y) * in.stride[p], in.rowBytes(p));
        gst_video_frame_unmap(&frame);
        gst_element_set_state(pipeline, GST_STATE_PLAYING);
    }
    ~Pipeline() {
        gst_element_set_state(pipeline, GST_STATE_NULL);
        if (result) gst_sample_unref(result);
        gst_buffer_unref(input);
        gst_object_unref(source);
        gst_object_unref(sink);
        gst_object_unref(pipeline);
    }
    void run() {
        if (result) gst_sample_unref(result);
        // The same memory under a buffer of its own, so that each frame has its time.
        GstBuffer *buffer = gst_buffer_copy(input);
        GST_BUFFER_PTS(buffer) = count++ * 40 * GST_MSECOND;
        GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
        if (gst_app_src_push_buffer(GST_APP_SRC(source), buffer) != GST_FLOW_OK) throw Failure("push failed");
        result = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 10 * GST_SECOND);
        if (!result) {
            GstBus *bus = gst_element_get_bus(pipeline);
            GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
            std::string text = "no frame came out";
            if (message) {
                GError *error = nullptr;
                gst_message_parse_error(message, &error, nullptr);
                text = error->message;
                g_error_free(error);
                gst_message_unref(message);
            }
            gst_object_unref(bus);
            throw Failure(text);
        }
    }
    void copy(Picture &out) const {
        GstVideoInfo info;
        gst_video_info_from_caps(&info, gst_sample_get_caps(result));
        GstVideoFrame frame;
        if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(result), GST_MAP_READ)) throw Failure("map");
        for (int p = 0; p < out.planes(); p++)
            for (int y = 0; y < out.rows(p); y++)
                std::memcpy(
                    out.plane[p] + size_t(y) * out.stride[p],
                    static_cast<uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        size_t(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
                    out.rowBytes(p));
        gst_video_frame_unmap(&frame);
    }
};

int main(int argc, char **argv) {
    gst_init(&argc, &argv);
    Peer peer;
    const auto add = [&peer](
                         const std::string &workload, const std::string &format, const std::string &name,
                         const std::string &elements, const std::string &outFormat) {
        peer.add(workload, format, name, [=, &peer](const Request &r) {
            std::string text = elements;
            for (size_t at; (at = text.find("@N@")) != std::string::npos;) text.replace(at, 3, std::to_string(r.threads));
            Job job;
            job.output = Picture(outFormat, peer.picture(format).width, peer.picture(format).height);
            auto pipeline = std::make_shared<Pipeline>(peer.picture(format), text, outFormat);
            job.run = [pipeline] { pipeline->run(); };
            Picture out = job.output;
            job.collect = [pipeline, out]() mutable { pipeline->copy(out); };
            return job;
        });
    };
    const std::string convert = "videoconvert n-threads=@N@ dither=none";
    std::ostringstream numbers;
    // videobalance works on limited-range Y' around 16: its contrast is not about mid-grey.
    numbers << "videobalance contrast=" << look::contrast << " brightness=" << look::brightness
            << " saturation=" << look::saturation << " ! gamma gamma=" << 1 / look::gamma;
    const auto balance = numbers.str();
    add("W1", "rgba", "videobalance,gamma", "videobalance contrast=1.1 brightness=0.05 saturation=0.8 ! " + convert +
            " ! video/x-raw,format=AYUV ! gamma gamma=1.1111 ! " + convert, "rgba");
    add("W1", "rgba", "planar", convert + " ! video/x-raw,format=I420 ! " + balance + " ! " + convert, "rgba");
    add("W1", "yuv420p", "videobalance,gamma", convert + " ! video/x-raw,format=RGBA ! " + convert +
            " ! video/x-raw,format=I420 ! " + balance, "yuv420p");
    add("W1y", "yuv420p", "videobalance,gamma", balance, "yuv420p");
    add("W2", "rgba", "gaussianblur", convert + " ! gaussianblur sigma=4 ! " + convert, "rgba");
    add("W10-decode", "yuv420p", "videoconvert", convert, "rgba");
    add("W10-encode", "rgba", "videoconvert", convert, "yuv420p");
    add("W10-both", "yuv420p", "videoconvert", convert + " ! video/x-raw,format=RGBA ! " + convert, "yuv420p");
    return peer.serve();
}

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
    GstElement *pipeline = nullptr, *sink = nullptr;
    std::vector<GstElement *> sources;
    std::vector<GstBuffer *> inputs;
    GstSample *result = nullptr;
    guint64 count = 0;

    static std::string caps(const std::string &format, int width, int height) {
        return "video/x-raw,format=" + gstFormat(format) + ",width=" + std::to_string(width) +
            ",height=" + std::to_string(height) + ",framerate=25/1,pixel-aspect-ratio=1/1,interlace-mode=progressive" +
            (format == "rgba" ? ",colorimetry=sRGB" : ",colorimetry=bt601");
    }

  public:
    /// `elements` stands between one input and the output; with several, it has "@IN0@ ! … @IN1@ ! …" for the inputs and
    /// ends with what goes to the output.
    Pipeline(const std::vector<Picture> &pictures, const std::string &elements, const std::string &outFormat) {
        std::string text = elements;
        for (size_t i = 0; i < pictures.size(); i++) {
            const auto &in = pictures[i];
            const auto name = std::to_string(i);
            const auto source = "appsrc name=in" + name + " is-live=false format=time max-buffers=4 block=true caps=" +
                caps(in.format, in.width, in.height);
            const auto word = "@IN" + name + "@";
            const auto at = text.find(word);
            if (at == std::string::npos) text = source + " ! " + text;
            else text.replace(at, word.size(), source);
        }
        text += " ! " + caps(outFormat, pictures[0].width, pictures[0].height) +
            " ! appsink name=out sync=false max-buffers=1";
        GError *error = nullptr;
        pipeline = gst_parse_launch(text.c_str(), &error);
        if (error) throw Failure(text + ": " + error->message);
        sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
        for (size_t i = 0; i < pictures.size(); i++) {
            sources.push_back(gst_bin_get_by_name(GST_BIN(pipeline), ("in" + std::to_string(i)).c_str()));
            inputs.push_back(buffer(pictures[i]));
        }
        gst_element_set_state(pipeline, GST_STATE_PLAYING);
    }
    static GstBuffer *buffer(const Picture &in) {
        GstVideoInfo info;
        gst_video_info_set_format(
            &info, in.format == "rgba" ? GST_VIDEO_FORMAT_RGBA : GST_VIDEO_FORMAT_I420, in.width, in.height);
        GstBuffer *input = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
        GstVideoFrame frame;
        gst_video_frame_map(&frame, &info, input, GST_MAP_WRITE);
        for (int p = 0; p < in.planes(); p++)
            for (int y = 0; y < in.rows(p); y++)
                std::memcpy(
                    static_cast<uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        size_t(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
                    in.plane[p] + size_t(y) * in.stride[p], in.rowBytes(p));
        gst_video_frame_unmap(&frame);
        return input;
    }
    ~Pipeline() {
        gst_element_set_state(pipeline, GST_STATE_NULL);
        if (result) gst_sample_unref(result);
        for (auto *input : inputs) gst_buffer_unref(input);
        for (auto *source : sources) gst_object_unref(source);
        gst_object_unref(sink);
        gst_object_unref(pipeline);
    }
    void run() {
        if (result) gst_sample_unref(result);
        result = nullptr;
        for (size_t i = 0; i < inputs.size(); i++) {
            // The same memory under a buffer of its own, so that each frame has its time.
            GstBuffer *buffer = gst_buffer_copy(inputs[i]);
            GST_BUFFER_PTS(buffer) = count * 40 * GST_MSECOND;
            GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
            if (gst_app_src_push_buffer(GST_APP_SRC(sources[i]), buffer) != GST_FLOW_OK) throw Failure("push failed");
        }
        count++;
        result = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 5 * GST_SECOND);
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
            auto pipeline = std::make_shared<Pipeline>(std::vector<Picture>{peer.picture(format)}, text, outFormat);
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
    add("W2-20", "rgba", "gaussianblur", convert + " ! gaussianblur sigma=20 ! " + convert, "rgba");

    const auto mix = [&peer](
                         const std::string &workload, const std::string &format, const std::string &name,
                         std::vector<std::string> inputs, const std::string &elements) {
        peer.add(workload, format, name, [=, &peer](const Request &r) {
            std::vector<Picture> pictures;
            for (const auto &input : inputs) pictures.push_back(peer.picture(input));
            std::string text = elements;
            const std::pair<std::string, int> words[] = {
                {"@N@", r.threads}, {"@X@", overlayX(pictures[0].width)}, {"@Y@", overlayY(pictures[0].height)},
                {"@W2@", pictures[0].width / 2}, {"@H2@", pictures[0].height / 2}};
            for (const auto &word : words)
                for (size_t at; (at = text.find(word.first)) != std::string::npos;)
                    text.replace(at, word.first.size(), std::to_string(word.second));
            Job job;
            job.output = Picture(format, pictures[0].width, pictures[0].height);
            auto pipeline = std::make_shared<Pipeline>(pictures, text, format);
            job.run = [pipeline] { pipeline->run(); };
            Picture out = job.output;
            job.collect = [pipeline, out]() mutable { pipeline->copy(out); };
            return job;
        });
    };
    for (const std::string format : {"rgba", "yuv420p"}) {
        const std::string b = "b-" + format;
        const std::string composed = "compositor name=c background=black max-threads=@N@ ";
        // What it composes it brings to its output's format first, which must therefore have alpha.
        const std::string end = format == "rgba" ? "c." : "c. ! video/x-raw,format=AYUV ! " + convert;
        mix("W4", format, "compositor", {format, "overlay-straight"},
            composed + "sink_1::xpos=@X@ sink_1::ypos=@Y@ @IN0@ ! c.sink_0 @IN1@ ! c.sink_1 " + end);
        std::string quarters = composed, wires;
        for (int i = 0; i < 4; i++) {
            const auto pad = "sink_" + std::to_string(i);
            quarters += pad + "::width=@W2@ " + pad + "::height=@H2@ " + (i % 2 ? pad + "::xpos=@W2@ " : "") +
                (i / 2 ? pad + "::ypos=@H2@ " : "");
            wires += "@IN" + std::to_string(i) + "@ ! c." + pad + " ";
        }
        mix("W7", format, "compositor", {format, b, format, b}, quarters + wires + "c.");
        std::ostringstream faded;
        faded << composed << "sink_1::alpha=" << fade << " @IN0@ ! c.sink_0 @IN1@ ! c.sink_1 c.";
        mix("W9", format, "compositor", {format, b}, faded.str());
        mix("W8", format, "alpha,compositor", {b, "key-" + format},
            composed + "@IN0@ ! c.sink_0 @IN1@ ! " + convert + " ! alpha method=custom target-r=25 target-g=205 target-b=35 angle=35 ! c.sink_1 " + end);
    }
    return peer.serve();
}

// FFmpeg's libavfilter, in process: buffer source → filters → buffer sink, so that neither a program's start nor
// decoding nor encoding is timed. `threads` is the graph's and the scaler's.
#define __STDC_CONSTANT_MACROS
extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "peer.hpp"

static void check(int code, const std::string &what) {
    if (code >= 0) return;
    char text[128];
    av_strerror(code, text, sizeof text);
    throw Failure(what + ": " + text);
}

/// A picture as a frame that refers to its memory.
static AVFrame *frame(const Picture &p, const std::string &range) {
    AVFrame *f = av_frame_alloc();
    f->format = av_get_pix_fmt(p.format.c_str());
    f->width = p.width;
    f->height = p.height;
    auto *keep = new std::shared_ptr<uint8_t>(p.memory);
    f->buf[0] = av_buffer_create(
        p.memory.get(), size_t(p.stride[0]) * p.height * 2,
        [](void *opaque, uint8_t *) { delete static_cast<std::shared_ptr<uint8_t> *>(opaque); }, keep,
        AV_BUFFER_FLAG_READONLY);
    for (int i = 0; i < p.planes(); i++) {
        f->data[i] = p.plane[i];
        f->linesize[i] = p.stride[i];
    }
    f->color_range = range == "full" ? AVCOL_RANGE_JPEG : AVCOL_RANGE_UNSPECIFIED;
    return f;
}

/// A picture that FFmpeg itself converts: masks in planar RGB and with alpha.
static AVFrame *mask(const std::string &format, int width, int height, const std::function<void(AVFrame *)> &fill) {
    AVFrame *f = av_frame_alloc();
    f->format = av_get_pix_fmt(format.c_str());
    f->width = width;
    f->height = height;
    check(av_frame_get_buffer(f, 64), "mask");
    fill(f);
    return f;
}

class Graph {
    AVFilterGraph *graph = avfilter_graph_alloc();
    std::vector<AVFilterContext *> sources;
    AVFilterContext *sink = nullptr;
    std::vector<AVFrame *> inputs;
    AVFrame *result = av_frame_alloc();
    int64_t count = 0;

  public:
    /// `text` is a filter graph with inputs [in0], [in1], … and the output [out].
    Graph(const std::string &text, std::vector<AVFrame *> frames, const std::string &outFormat, int threads)
        : inputs(std::move(frames)) {
        graph->nb_threads = threads;
        av_opt_set(graph, "scale_sws_opts", ("threads=" + std::to_string(threads)).c_str(), 0);
        AVFilterInOut *outs = nullptr, **next = &outs;
        for (size_t i = 0; i < inputs.size(); i++) {
            char options[256];
            std::snprintf(
                options, sizeof options, "video_size=%dx%d:pix_fmt=%d:time_base=1/25:pixel_aspect=1/1",
                inputs[i]->width, inputs[i]->height, inputs[i]->format);
            AVFilterContext *source = nullptr;
            const auto name = "in" + std::to_string(i);
            check(
                avfilter_graph_create_filter(
                    &source, avfilter_get_by_name("buffer"), name.c_str(), options, nullptr, graph),
                "buffer");
            sources.push_back(source);
            *next = avfilter_inout_alloc();
            (*next)->name = av_strdup(name.c_str());
            (*next)->filter_ctx = source;
            next = &(*next)->next;
        }
        check(
            avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "out", nullptr, nullptr, graph),
            "buffersink");
        AVFilterInOut *ins = avfilter_inout_alloc();
        ins->name = av_strdup("out");
        ins->filter_ctx = sink;
        const auto whole = text + ",format=" + outFormat + "[out]";
        check(avfilter_graph_parse_ptr(graph, whole.c_str(), &ins, &outs, nullptr), whole);
        check(avfilter_graph_config(graph, nullptr), whole);
        avfilter_inout_free(&ins);
        avfilter_inout_free(&outs);
    }
    ~Graph() {
        av_frame_free(&result);
        for (auto *f : inputs) av_frame_free(&f);
        avfilter_graph_free(&graph);
    }
    void run() {
        av_frame_unref(result);
        for (size_t i = 0; i < sources.size(); i++) {
            inputs[i]->pts = count;
            check(av_buffersrc_add_frame_flags(sources[i], inputs[i], AV_BUFFERSRC_FLAG_KEEP_REF), "push");
        }
        count++;
        check(av_buffersink_get_frame(sink, result), "pull");
    }
    AVFrame *frame() const { return result; }
    void copy(Picture &out) const {
        for (int p = 0; p < out.planes(); p++)
            av_image_copy_plane(
                out.plane[p], out.stride[p], result->data[p], result->linesize[p], out.rowBytes(p), out.rows(p));
    }
};

struct Text {
    std::string text;
    /// "" or the second input's format: a mask for the vignette.
    std::string mask;
    std::string outFormat;
    std::string range;
};

/// The vignette's factor as a picture: planar grey levels of `exponent`, or black with 1 − factor as alpha.
static AVFrame *vignetteMask(const std::string &format, int width, int height, double exponent) {
    return mask(format, width, height, [=](AVFrame *f) {
        const auto *d = av_pix_fmt_desc_get(AVPixelFormat(f->format));
        const bool isAlpha = d->flags & AV_PIX_FMT_FLAG_ALPHA;
        for (int c = 0; c < d->nb_components; c++) {
            const bool isChroma = !(d->flags & AV_PIX_FMT_FLAG_RGB) && (c == 1 || c == 2);
            const int w = isChroma ? AV_CEIL_RSHIFT(width, d->log2_chroma_w) : width;
            const int h = isChroma ? AV_CEIL_RSHIFT(height, d->log2_chroma_h) : height;
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    const double m = std::pow(look::vignette(x, y, w, h), exponent);
                    uint8_t *to = f->data[d->comp[c].plane] + y * f->linesize[d->comp[c].plane] +
                        x * d->comp[c].step + d->comp[c].offset;
                    *to = isAlpha ? (c == 3 ? 255 - look::code(m) : isChroma ? 128 : 0) : look::code(m);
                }
        }
    });
}

/// A picture in another format, converted once, untimed.
static AVFrame *converted(const Picture &picture, const std::string &format) {
    AVFrame *f = frame(picture, "");
    if (format == picture.format) return f;
    AVFrame *result = av_frame_alloc();
    {
        Graph graph("[in0]null", {f}, format, 1);
        graph.run();
        check(av_frame_ref(result, graph.frame()), "convert");
    }
    return result;
}

/// Several pictures, by the peer's names, each in a format of its own, through one graph.
static Job several(
    Peer &peer, const Request &request, const std::string &text,
    const std::vector<std::pair<std::string, std::string>> &inputs, const std::string &outFormat) {
    Job job;
    const Picture first = peer.picture(inputs[0].first);
    job.output = Picture(outFormat, first.width, first.height);
    std::vector<AVFrame *> frames;
    for (const auto &input : inputs) frames.push_back(converted(peer.picture(input.first), input.second));
    auto graph = std::make_shared<Graph>(text, frames, outFormat, request.threads);
    job.run = [graph] { graph->run(); };
    Picture out = job.output;
    job.collect = [graph, out]() mutable { graph->copy(out); };
    return job;
}

static Job filters(Peer &peer, const Request &request, const Text &text) {
    const Picture in = peer.picture(request.format);
    Job job;
    job.output = Picture(text.outFormat, in.width, in.height);
    std::vector<AVFrame *> frames{frame(in, text.range)};
    if (!text.mask.empty()) {
        // In Y'CbCr, FFmpeg's eq applies gamma before the vignette; in RGB our chain swaps them.
        const double exponent = text.range == "full" ? 1 : look::gamma;
        frames.push_back(vignetteMask(text.mask, in.width, in.height, exponent));
        if (text.text.find("[in2]") != std::string::npos)
            // maskedmerge: what the mask leaves out is black.
            frames.push_back(mask(text.mask, in.width, in.height, [](AVFrame *f) {
                for (int p = 0; p < 3; p++) {
                    const bool isChroma = f->format == AV_PIX_FMT_YUV420P && p > 0;
                    std::memset(
                        f->data[p], isChroma ? 128 : 0, size_t(f->linesize[p]) * (isChroma ? f->height / 2 : f->height));
                }
            }));
    }
    std::string filled = text.text;
    const auto at = filled.find("@CUBE@");
    if (at != std::string::npos) filled.replace(at, 6, peer.cubeFile);
    auto graph = std::make_shared<Graph>(filled, frames, text.outFormat, request.threads);
    job.run = [graph] { graph->run(); };
    Picture out = job.output;
    job.collect = [graph, out]() mutable { graph->copy(out); };
    return job;
}

/// Contrast, brightness and saturation as a mixer and, with gamma, a table.
static std::string mixer() {
    const char *names[3] = {"r", "g", "b"};
    std::ostringstream text;
    text << "colorchannelmixer=";
    for (int to = 0; to < 3; to++)
        for (int from = 0; from < 3; from++)
            text << (to + from ? ":" : "") << names[to] << names[from] << "=" << look::matrix(to, from);
    return text.str();
}
static std::string table() {
    std::ostringstream text;
    text << "'clip(255*pow(clip(val/255+" << look::offset << ",0,1)," << look::gamma << "),0,255)'";
    return "lutrgb=r=" + text.str() + ":g=" + text.str() + ":b=" + text.str();
}
static std::string eq() {
    std::ostringstream text;
    text << "eq=contrast=" << look::contrast << ":brightness=" << look::brightness << ":saturation=" << look::saturation
         << ":gamma=" << 1 / look::gamma;
    return text.str();
}

int main() {
    av_log_set_level(AV_LOG_ERROR);
    Peer peer;
    const auto add = [&peer](const std::string &workload, const std::string &format, const std::string &name, Text text) {
        peer.add(workload, format, name, [&peer, text](const Request &r) { return filters(peer, r, text); });
    };
    const auto look = mixer() + "," + table();
    const std::string merge = "[a];[in2][a][in1]maskedmerge";
    add("W1", "rgba", "eq,vignette", {"[in0]format=yuv444p," + eq() + ",vignette=dither=0", "", "rgba", ""});
    add("W1", "rgba", "mixer,table,overlay", {"[in0]" + look + "[a];[a][in1]overlay=format=rgb", "rgba", "rgba", ""});
    add("W1", "rgba", "planar,maskedmerge", {"[in0]format=gbrp," + look + merge, "gbrp", "rgba", ""});
    add("W1", "yuv420p", "eq,vignette", {"[in0]format=gbrp,format=yuv444p," + eq() + ",vignette=dither=0,format=gbrp",
                                         "", "yuv420p", ""});
    add("W1", "yuv420p", "mixer,table,overlay",
        {"[in0]format=rgba," + look + "[a];[a][in1]overlay=format=rgb", "rgba", "yuv420p", ""});
    add("W1", "yuv420p", "planar,maskedmerge", {"[in0]format=gbrp," + look + merge, "gbrp", "yuv420p", ""});
    add("W1y", "yuv420p", "eq,vignette", {"[in0]" + eq() + ",vignette=dither=0", "", "yuv420p", "full"});
    add("W1y", "yuv420p", "eq,maskedmerge", {"[in0]" + eq() + merge, "yuv420p", "yuv420p", "full"});
    add("W2", "rgba", "gblur", {"[in0]format=gbrap,gblur=sigma=4", "", "rgba", ""});
    add("W2", "rgba", "gblur-two-steps", {"[in0]format=gbrap,gblur=sigma=4:steps=2", "", "rgba", ""});
    add("W2", "rgba", "boxblur", {"[in0]format=gbrap,boxblur=lr=3:lp=3:ar=3:ap=3", "", "rgba", ""});
    add("W2", "yuv420p", "gblur", {"[in0]gblur=sigma=4:planes=1,gblur=sigma=2:planes=6", "", "yuv420p", ""});
    add("W2", "yuv420p", "gblur-all-planes-alike", {"[in0]gblur=sigma=4", "", "yuv420p", ""});
    for (const char *format : {"rgba", "gbrp", "gbrp16", "gbrpf32"})
        add("W5", "rgba", format, {std::string("[in0]format=") + format + ",lut3d='@CUBE@':interp=tetrahedral", "",
                                   "rgba", ""});
    add("W6-sobel", "rgba", "sobel", {"[in0]format=gray,sobel", "", "rgba", ""});
    std::ostringstream rows;
    for (int i = 0; i < 9; i++) rows << (i ? " " : "") << sharpen[i];
    const std::string k = "'" + rows.str() + "'", d = "0.0625";
    add("W6-3x3", "rgba", "convolution",
        {"[in0]format=gbrp,convolution=" + k + ":" + k + ":" + k + ":" + k + ":" + d + ":" + d + ":" + d + ":" + d, "",
         "rgba", ""});
    add("W10-decode", "yuv420p", "scale", {"[in0]null", "", "rgba", ""});
    add("W10-encode", "rgba", "scale", {"[in0]null", "", "yuv420p", ""});
    add("W10-encode", "rgba", "zscale", {"[in0]format=gbrp,zscale=matrix=170m:range=limited", "", "yuv420p", ""});
    add("W10-both", "yuv420p", "scale", {"[in0]format=rgba", "", "yuv420p", ""});
    add("W10-both", "yuv420p", "scale-planar", {"[in0]format=gbrp", "", "yuv420p", ""});
    for (const char *format : {"rgba", "yuv420p"}) {
        const std::string text = format[0] == 'r' ? "[in0]format=gbrap," : "[in0]";
        const std::string chroma = format[0] == 'r' ? "gblur=sigma=20" : "gblur=sigma=20:planes=1,gblur=sigma=10:planes=6";
        add("W2-20", format, "gblur", {text + chroma, "", format, ""});
    }
    add("W2-20", "rgba", "boxblur", {"[in0]format=gbrap,boxblur=lr=19:lp=3:ar=19:ap=3", "", "rgba", ""});
    add("W3-luma", "gray", "bilateral", {"[in0]bilateral=sigmaS=4:sigmaR=0.1", "", "gray", ""});
    for (const char *row : {"W3-rgb", "W3-guided"})
        add(row, "rgba", "bilateral", {"[in0]format=gbrp,bilateral=sigmaS=4:sigmaR=0.1:planes=7", "", "rgba", ""});

    using Inputs = std::vector<std::pair<std::string, std::string>>;
    const auto mix = [&peer](
                         const std::string &workload, const std::string &format, const std::string &name,
                         const std::string &text, const Inputs &inputs) {
        peer.add(workload, format, name, [&peer, text, inputs, format](const Request &r) {
            std::string filled = text;
            const Picture &base = peer.picture(inputs[0].first);
            const std::pair<std::string, int> words[] = {
                {"@X@", overlayX(base.width)}, {"@Y@", overlayY(base.height)}, {"@W2@", base.width / 2},
                {"@H2@", base.height / 2}};
            for (const auto &word : words)
                for (size_t at; (at = filled.find(word.first)) != std::string::npos;)
                    filled.replace(at, word.first.size(), std::to_string(word.second));
            return several(peer, r, filled, inputs, format);
        });
    };
    // The upper picture is in the layer's own format already; what comes from the camera is converted in time.
    mix("W4", "rgba", "overlay", "[in0][in1]overlay=@X@:@Y@:format=rgb", {{"rgba", "rgba"}, {"overlay-straight", "rgba"}});
    mix("W4", "rgba", "planar", "[in0]format=gbrp[a];[a][in1]overlay=@X@:@Y@:format=gbrp",
        {{"rgba", "rgba"}, {"overlay-straight", "gbrap"}});
    mix("W4", "yuv420p", "overlay", "[in0][in1]overlay=@X@:@Y@:format=yuv420",
        {{"yuv420p", "yuv420p"}, {"overlay-straight", "yuva420p"}});
    const std::string small = "scale=@W2@:@H2@:flags=";
    for (const std::string kind : {"bilinear", "fast_bilinear", "area"})
        for (const std::string format : {"rgba", "yuv420p"})
            mix("W7", format, kind + ",xstack",
                "[in0]" + small + kind + "[a];[in1]" + small + kind + "[b];[in2]" + small + kind + "[c];[in3]" + small + kind +
                    "[d];[a][b][c][d]xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0",
                {{format, format}, {"b-" + format, format}, {format, format}, {"b-" + format, format}});
    // Its distance is half of ours.
    std::ostringstream key;
    key << "similarity=" << keyThreshold / 2 << ":blend=" << keySmoothing / 2;
    mix("W8", "rgba", "chromakey", "[in0]format=yuva444p,chromakey=0x00ff00:" + key.str() + ",format=gbrap[k];[in1]format=gbrp[b];[b][k]overlay=format=gbrp",
        {{"key-rgba", "rgba"}, {"b-rgba", "rgba"}});
    mix("W8", "rgba", "colorkey", "[in0]colorkey=0x18cf25:similarity=0.25:blend=0.15[k];[in1][k]overlay=format=rgb",
        {{"key-rgba", "rgba"}, {"b-rgba", "rgba"}});
    mix("W8", "yuv420p", "chromakey", "[in0]format=yuva420p,chromakey=0x00ff00:" + key.str() + "[k];[in1][k]overlay=format=yuv420",
        {{"key-yuv420p", "yuv420p"}, {"b-yuv420p", "yuv420p"}});
    std::ostringstream share;
    share << 1 - fade;
    for (const std::string format : {"rgba", "yuv420p"}) {
        const Inputs two = {{format, format}, {"b-" + format, format}};
        mix("W9", format, "blend", "[in0][in1]blend=all_mode=normal:all_opacity=" + share.str(), two);
        mix("W9", format, "mix", "[in0][in1]mix=inputs=2:weights=3 1", two);
    }
    mix("W9", "rgba", "planar,blend", "[in0]format=gbrp[a];[in1]format=gbrp[b];[a][b]blend=all_mode=normal:all_opacity=" + share.str(),
        {{"rgba", "rgba"}, {"b-rgba", "rgba"}});
    return peer.serve();
}

// OpenCV: its imgproc and core functions on 8-bit pictures, each workload in the ways that people write it.
//
// Y'CbCr conversions are BT.601 limited range, the only one that cvtColor's YUV420 forms know.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "peer.hpp"

static cv::Mat view(const Picture &p, int plane = 0) {
    return cv::Mat(
        p.rows(plane), p.format == "rgba" ? p.rowBytes(plane) / 4 : p.rowBytes(plane),
        p.format == "rgba" ? CV_8UC4 : CV_8UC1, p.plane[plane], p.stride[plane]);
}

/// The three planes below each other without gaps, as cvtColor's YUV420 forms want them.
static cv::Mat packed(const Picture &p) {
    cv::Mat all(p.height * 3 / 2, p.width, CV_8UC1);
    uint8_t *to = all.data;
    for (int plane = 0; plane < 3; plane++)
        for (int y = 0; y < p.rows(plane); y++, to += p.rowBytes(plane))
            std::memcpy(to, p.plane[plane] + size_t(y) * p.stride[plane], p.rowBytes(plane));
    return all;
}
static void unpack(const cv::Mat &all, Picture &p) {
    const uint8_t *from = all.data;
    for (int plane = 0; plane < 3; plane++)
        for (int y = 0; y < p.rows(plane); y++, from += p.rowBytes(plane))
            std::memcpy(p.plane[plane] + size_t(y) * p.stride[plane], from, p.rowBytes(plane));
}

/// Strips of rows over OpenCV's own threads, so that the steps between stay in cache.
static void strips(int height, int rows, const std::function<void(int, int)> &body) {
    cv::parallel_for_(cv::Range(0, (height + rows - 1) / rows), [&](const cv::Range &range) {
        for (int i = range.start; i < range.end; i++) body(i * rows, std::min(height, (i + 1) * rows));
    });
}

struct LookTables {
    cv::Mat matrix, matrix3, gamma, gamma3, mask, mask3;
    LookTables(int width, int height) : matrix(4, 5, CV_32F, cv::Scalar(0)), gamma(1, 256, CV_8UC4) {
        for (int to = 0; to < 3; to++) {
            for (int from = 0; from < 3; from++) matrix.at<float>(to, from) = float(look::matrix(to, from));
            matrix.at<float>(to, 4) = float(255 * look::offset);
        }
        matrix.at<float>(3, 3) = 1;
        for (int i = 0; i < 256; i++) {
            const uint8_t v = look::gammaCode(i);
            gamma.at<cv::Vec4b>(i) = cv::Vec4b(v, v, v, uint8_t(i));
        }
        mask.create(height, width, CV_8UC4);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const uint8_t m = look::code(std::pow(look::vignette(x, y, width, height), look::gamma));
                mask.at<cv::Vec4b>(y, x) = cv::Vec4b(m, m, m, 255);
            }
        matrix3.create(3, 4, CV_32F);
        for (int to = 0; to < 3; to++)
            for (int from = 0; from < 4; from++) matrix3.at<float>(to, from) = matrix.at<float>(to, from + from / 3);
        cv::cvtColor(gamma, gamma3, cv::COLOR_RGBA2RGB);
        cv::cvtColor(mask, mask3, cv::COLOR_RGBA2RGB);
    }
    /// On three channels, where `transform` has a vector form.
    void applyRGB(const cv::Mat &in, cv::Mat &out, cv::Mat &a, cv::Mat &b, int from, int to) const {
        cv::cvtColor(in, a, cv::COLOR_RGBA2RGB);
        cv::transform(a, b, matrix3);
        cv::LUT(b, gamma3, a);
        cv::multiply(a, mask3.rowRange(from, to), a, 1 / 255.0);
        cv::cvtColor(a, out, cv::COLOR_RGB2RGBA);
    }
    /// matrix, table, mask on rows `from..<to` of the whole picture.
    void apply(const cv::Mat &in, cv::Mat &out, cv::Mat &middle, int from, int to) const {
        cv::transform(in, middle, matrix);
        cv::LUT(middle, gamma, out);
        cv::multiply(out, mask.rowRange(from, to), out, 1 / 255.0);
    }
    /// The same with saturation as a weighted sum of the picture and its grey, which is faster than a matrix of floats.
    void applyByGrey(const cv::Mat &in, cv::Mat &out, cv::Mat &grey, cv::Mat &grey4, int from, int to) const {
        // BT.709 luma: the grey conversion knows only BT.601, so it is a one-row matrix.
        const cv::Matx14f luma(float(look::red), float(look::green), float(look::blue), 0);
        cv::transform(in, grey, luma);
        cv::cvtColor(grey, grey4, cv::COLOR_GRAY2RGBA);
        cv::addWeighted(
            in, look::contrast * look::saturation, grey4, look::contrast * (1 - look::saturation), 255 * look::offset,
            out);
        cv::LUT(out, gamma, out);
        cv::multiply(out, mask.rowRange(from, to), out, 1 / 255.0);
    }
};

enum class LookWay { matrix, grey, rgb };

static void apply(
    const LookTables &tables, LookWay way, const cv::Mat &in, cv::Mat out, int from, int to) {
    thread_local cv::Mat a, b;
    switch (way) {
    case LookWay::matrix: tables.apply(in, out, a, from, to); break;
    case LookWay::grey: tables.applyByGrey(in, out, a, b, from, to); break;
    case LookWay::rgb: tables.applyRGB(in, out, a, b, from, to); break;
    }
}

static Job lookRGBA(Peer &peer, const Request &request, int rows, LookWay way) {
    cv::setNumThreads(request.threads);
    const Picture in = peer.picture("rgba");
    Job job;
    job.output = Picture("rgba", in.width, in.height);
    const cv::Mat from = view(in), to = view(job.output);
    auto tables = std::make_shared<LookTables>(in.width, in.height);
    const int step = rows ? rows : in.height;
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        const auto body = [&](int first, int last) {
            apply(*tables, way, from.rowRange(first, last), to.rowRange(first, last), first, last);
        };
        if (rows) strips(in.height, step, body);
        else body(0, in.height);
    };
    return job;
}

static Job lookThroughRGB(Peer &peer, const Request &request, LookWay way) {
    const Picture in = peer.picture("yuv420p");
    Job job;
    job.output = Picture("yuv420p", in.width, in.height);
    const cv::Mat from = packed(in);
    auto tables = std::make_shared<LookTables>(in.width, in.height);
    auto rgba = std::make_shared<cv::Mat>(), result = std::make_shared<cv::Mat>();
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        cv::cvtColor(from, *rgba, cv::COLOR_YUV2RGBA_I420);
        strips(in.height, 16, [&](int first, int last) {
            apply(*tables, way, rgba->rowRange(first, last), rgba->rowRange(first, last), first, last);
        });
        cv::cvtColor(*rgba, *result, cv::COLOR_RGBA2YUV_I420);
    };
    Picture out = job.output;
    job.collect = [=]() mutable { unpack(*result, out); };
    return job;
}

/// eq and vignette on full-range Y'CbCr: a table and a mask for each plane.
static Job lookYCbCr(Peer &peer, const Request &request) {
    const Picture in = peer.picture("yuv420p");
    Job job;
    job.output = Picture("yuv420p", in.width, in.height);
    const Picture out = job.output;
    struct Tables {
        // In parentheses: braces would make a matrix of the three numbers.
        cv::Mat luma = cv::Mat(1, 256, CV_8U), chroma = cv::Mat(1, 256, CV_8U), mask[2], rest;
    };
    auto t = std::make_shared<Tables>();
    for (int i = 0; i < 256; i++) {
        const double v = std::max(0.0, look::contrast * (i / 255.0 - 0.5) + 0.5 + look::brightness);
        t->luma.at<uint8_t>(i) = look::code(std::pow(std::min(1.0, v), look::gamma));
        t->chroma.at<uint8_t>(i) = uint8_t(std::lround(128 + look::saturation * (i - 128)));
    }
    for (int p = 0; p < 2; p++) {
        t->mask[p].create(in.rows(p), in.rowBytes(p), CV_8U);
        for (int y = 0; y < in.rows(p); y++)
            for (int x = 0; x < in.rowBytes(p); x++)
                t->mask[p].at<uint8_t>(y, x) = look::code(look::vignette(x, y, in.rowBytes(p), in.rows(p)));
    }
    // 128 · (1 − m), which brings shaded chroma back to neutral.
    t->mask[1].convertTo(t->rest, CV_8U, -128 / 255.0, 128);
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        strips(in.rows(1), 16, [&](int first, int last) {
            for (int p = 0; p < 3; p++) {
                const int from = p ? first : 2 * first, to = p ? last : std::min(in.height, 2 * last);
                cv::Mat part = view(out, p).rowRange(from, to);
                cv::LUT(view(in, p).rowRange(from, to), p ? t->chroma : t->luma, part);
                cv::multiply(part, t->mask[p ? 1 : 0].rowRange(from, to), part, 1 / 255.0);
                if (p) cv::add(part, t->rest.rowRange(from, to), part);
            }
        });
    };
    return job;
}

enum class Blur { gaussian, boxes, pyramid, quarter };

static void blur(const cv::Mat &in, cv::Mat out, double sigma, Blur way) {
    switch (way) {
    case Blur::gaussian: cv::GaussianBlur(in, out, cv::Size(), sigma, sigma, cv::BORDER_REPLICATE); break;
    case Blur::boxes: {
        // Three boxes of width w have the variance 3 (w² − 1) / 12.
        const int w = int(std::lround((std::sqrt(4 * sigma * sigma + 1) - 1) / 2)) * 2 + 1;
        cv::blur(in, out, {w, w}, {-1, -1}, cv::BORDER_REPLICATE);
        cv::blur(out, out, {w, w}, {-1, -1}, cv::BORDER_REPLICATE);
        cv::blur(out, out, {w, w}, {-1, -1}, cv::BORDER_REPLICATE);
        break;
    }
    case Blur::quarter: {
        // A quarter of the size: what the mean of 4×4 and the way back add is small against a large sigma.
        thread_local cv::Mat small, soft;
        const double rest = std::sqrt(std::max(0.25, (sigma * sigma - 3.75) / 16));
        cv::resize(in, small, {in.cols / 4, in.rows / 4}, 0, 0, cv::INTER_AREA);
        cv::GaussianBlur(small, soft, cv::Size(), rest, rest, cv::BORDER_REPLICATE);
        cv::resize(soft, out, in.size(), 0, 0, cv::INTER_LINEAR);
        break;
    }
    case Blur::pyramid: {
        // Half the size; the mean of 2×2 and the bilinear way back add about 0.25 + 0.5 of variance, in pixels.
        thread_local cv::Mat small, soft;
        const double rest = std::sqrt(std::max(0.25, (sigma * sigma - 0.75) / 4));
        cv::resize(in, small, {in.cols / 2, in.rows / 2}, 0, 0, cv::INTER_AREA);
        cv::GaussianBlur(small, soft, cv::Size(), rest, rest, cv::BORDER_REPLICATE);
        cv::resize(soft, out, in.size(), 0, 0, cv::INTER_LINEAR);
        break;
    }
    }
}

static Job gaussian(Peer &peer, const Request &request, double sigma, Blur way) {
    const Picture in = peer.picture(request.format);
    Job job;
    job.output = Picture(in.format, in.width, in.height);
    const Picture out = job.output;
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        for (int p = 0; p < in.planes(); p++) blur(view(in, p), view(out, p), p ? sigma / 2 : sigma, way);
    };
    return job;
}

static Job bilateral(Peer &peer, const Request &request) {
    const Picture in = peer.picture(request.format);
    Job job;
    job.output = Picture(in.format, in.width, in.height);
    const Picture out = job.output;
    auto rgb = std::make_shared<cv::Mat>(), soft = std::make_shared<cv::Mat>();
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        if (in.format == "gray") return cv::bilateralFilter(view(in), view(out), 9, 25.5, 4, cv::BORDER_REPLICATE);
        cv::cvtColor(view(in), *rgb, cv::COLOR_RGBA2RGB);
        cv::bilateralFilter(*rgb, *soft, 9, 25.5, 4, cv::BORDER_REPLICATE);
        cv::cvtColor(*soft, view(out), cv::COLOR_RGB2RGBA);
    };
    return job;
}

/// W4: the lower picture times what alpha leaves (a mask made beforehand), plus the premultiplied upper one.
static Job overlay(Peer &peer, const Request &request) {
    const Picture base = peer.picture("rgba"), over = peer.picture("overlay");
    Job job;
    job.output = Picture("rgba", base.width, base.height);
    const Picture out = job.output;
    const cv::Rect place(overlayX(base.width), overlayY(base.height), over.width, over.height);
    cv::Mat alpha, rest;
    cv::extractChannel(view(over), alpha, 3);
    cv::merge(std::vector<cv::Mat>(4, 255 - alpha), rest);
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        const cv::Mat from = view(base), to = view(out), top = view(over);
        strips(base.height, 16, [&](int first, int last) {
            from.rowRange(first, last).copyTo(to.rowRange(first, last));
            const int a = std::max(first, place.y), b = std::min(last, place.y + place.height);
            if (a >= b) return;
            cv::Mat part = to(cv::Rect(place.x, a, place.width, b - a));
            cv::multiply(part, rest.rowRange(a - place.y, b - place.y), part, 1 / 255.0);
            cv::add(part, top.rowRange(a - place.y, b - place.y), part);
        });
    };
    return job;
}

static Job quarters(Peer &peer, const Request &request) {
    std::vector<Picture> inputs;
    for (const char *name : {"", "b-", "", "b-"}) inputs.push_back(peer.picture(name + request.format));
    Job job;
    job.output = Picture(request.format, inputs[0].width, inputs[0].height);
    const Picture out = job.output;
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        for (int i = 0; i < 4; i++)
            for (int p = 0; p < out.planes(); p++) {
                const cv::Mat from = view(inputs[i], p);
                const cv::Size half(from.cols / 2, from.rows / 2);
                cv::Mat to = view(out, p)(cv::Rect({i % 2 * half.width, i / 2 * half.height}, half));
                cv::resize(from, to, half, 0, 0, cv::INTER_LINEAR);
            }
    };
    return job;
}

static Job crossFade(Peer &peer, const Request &request) {
    const Picture a = peer.picture(request.format), b = peer.picture("b-" + request.format);
    Job job;
    job.output = Picture(request.format, a.width, a.height);
    const Picture out = job.output;
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        for (int p = 0; p < a.planes(); p++) {
            const cv::Mat from = view(a, p), other = view(b, p), to = view(out, p);
            strips(a.rows(p), 32, [&](int first, int last) {
                cv::Mat part = to.rowRange(first, last);
                cv::addWeighted(from.rowRange(first, last), 1 - fade, other.rowRange(first, last), fade, 0, part);
            });
        }
    };
    return job;
}

/// W8: alpha from the chroma's distance; `soft` ramps it, else it is all or nothing.
static Job key(Peer &peer, const Request &request, bool soft) {
    const Picture front = peer.picture("key-rgba"), back = peer.picture("b-rgba");
    Job job;
    job.output = Picture("rgba", front.width, front.height);
    const Picture out = job.output;
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        const cv::Mat all = view(front), behind = view(back), to = view(out);
        strips(front.height, 16, [&](int first, int last) {
            thread_local cv::Mat chroma, parts[2], distance, alpha, alpha4, rest, a, b;
            const cv::Mat from = all.rowRange(first, last), other = behind.rowRange(first, last);
            cv::Mat part = to.rowRange(first, last);
            // Cb and Cr less those of green, in 0…1 of a code each.
            const cv::Matx<float, 2, 5> matrix(
                -0.168736f, -0.331264f, 0.5f, 0, 0.331264f * 255, 0.5f, -0.418688f, -0.081312f, 0, 0.418688f * 255);
            from.convertTo(a, CV_32F);
            cv::transform(a, chroma, matrix);
            cv::split(chroma, parts);
            cv::magnitude(parts[0], parts[1], distance);
            if (!soft) {
                cv::compare(distance, 255 / 1.41 * (keyThreshold + keySmoothing / 2), alpha, cv::CMP_GT);
                other.copyTo(part);
                from.copyTo(part, alpha);
                return;
            }
            distance.convertTo(alpha, CV_8U, 1.41 / keySmoothing, -255 * keyThreshold / keySmoothing);
            cv::Mat ones[] = {alpha, alpha, alpha, alpha};
            cv::merge(ones, 4, alpha4);
            cv::bitwise_not(alpha4, rest);
            cv::multiply(from, alpha4, a, 1 / 255.0);
            cv::multiply(other, rest, b, 1 / 255.0);
            cv::add(a, b, part);
        });
    };
    return job;
}

static Job sobel(Peer &peer, const Request &request, bool together) {
    const Picture in = peer.picture("rgba");
    Job job;
    job.output = Picture("rgba", in.width, in.height);
    const Picture out = job.output;
    struct Steps {
        cv::Mat grey, x, y, absX, absY;
    };
    auto s = std::make_shared<Steps>();
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        cv::cvtColor(view(in), s->grey, cv::COLOR_RGBA2GRAY);
        if (together) {
            cv::spatialGradient(s->grey, s->x, s->y, 3, cv::BORDER_REPLICATE);
        } else {
            cv::Sobel(s->grey, s->x, CV_16S, 1, 0, 3, 1, 0, cv::BORDER_REPLICATE);
            cv::Sobel(s->grey, s->y, CV_16S, 0, 1, 3, 1, 0, cv::BORDER_REPLICATE);
        }
        cv::convertScaleAbs(s->x, s->absX);
        cv::convertScaleAbs(s->y, s->absY);
        cv::add(s->absX, s->absY, s->absX);
        cv::cvtColor(s->absX, view(out), cv::COLOR_GRAY2RGBA);
    };
    return job;
}

static Job convolution(Peer &peer, const Request &request, bool inStrips) {
    const Picture in = peer.picture("rgba");
    Job job;
    job.output = Picture("rgba", in.width, in.height);
    const Picture out = job.output;
    cv::Mat kernel(3, 3, CV_32F);
    for (int i = 0; i < 9; i++) kernel.at<float>(i) = sharpen[i] / 16.0f;
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        if (!inStrips) return cv::filter2D(view(in), view(out), -1, kernel, {-1, -1}, 0, cv::BORDER_REPLICATE);
        // A part of a matrix is filtered with its surroundings.
        strips(in.height, (in.height + threads - 1) / threads, [&](int first, int last) {
            cv::filter2D(
                view(in).rowRange(first, last), view(out).rowRange(first, last), -1, kernel, {-1, -1}, 0,
                cv::BORDER_REPLICATE);
        });
    };
    return job;
}

static Job decode(Peer &peer, const Request &request) {
    const Picture in = peer.picture("yuv420p");
    Job job;
    job.output = Picture("rgba", in.width, in.height);
    const cv::Mat from = packed(in), to = view(job.output);
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        cv::cvtColor(from, to, cv::COLOR_YUV2RGBA_I420);
    };
    return job;
}

static Job encode(Peer &peer, const Request &request, bool roundTrip) {
    const Picture in = peer.picture(roundTrip ? "yuv420p" : "rgba");
    Job job;
    job.output = Picture("yuv420p", in.width, in.height);
    Picture out = job.output;
    const cv::Mat from = roundTrip ? packed(in) : view(in);
    auto rgba = std::make_shared<cv::Mat>(), result = std::make_shared<cv::Mat>();
    const int threads = request.threads;
    job.run = [=] {
        cv::setNumThreads(threads);
        if (roundTrip) cv::cvtColor(from, *rgba, cv::COLOR_YUV2RGBA_I420);
        cv::cvtColor(roundTrip ? *rgba : from, *result, cv::COLOR_RGBA2YUV_I420);
    };
    job.collect = [=]() mutable { unpack(*result, out); };
    return job;
}

int main() {
    Peer peer;
    const auto p = &peer;
    peer.add("W1", "rgba", "transform,LUT,multiply", [p](const Request &r) {
        return lookRGBA(*p, r, 0, LookWay::matrix);
    });
    for (const auto &way : {std::make_pair("transform", LookWay::matrix), std::make_pair("addWeighted", LookWay::grey),
                            std::make_pair("rgb-transform", LookWay::rgb)}) {
        const auto kind = way.second;
        peer.add("W1", "rgba", std::string(way.first) + "-in-strips", [p, kind](const Request &r) {
            return lookRGBA(*p, r, 16, kind);
        });
        peer.add("W1", "yuv420p", std::string("cvtColor,") + way.first, [p, kind](const Request &r) {
            return lookThroughRGB(*p, r, kind);
        });
    }
    peer.add("W1y", "yuv420p", "LUT,multiply-in-strips", [p](const Request &r) { return lookYCbCr(*p, r); });
    for (const char *format : {"rgba", "yuv420p"}) {
        for (const auto &row : {std::make_pair("W2", 4.0), std::make_pair("W2-20", 20.0)}) {
            const double sigma = row.second;
            const auto way = [&](const char *name, Blur kind) {
                peer.add(row.first, format, name, [=](const Request &r) { return gaussian(*p, r, sigma, kind); });
            };
            way("GaussianBlur", Blur::gaussian);
            way("three-boxes", Blur::boxes);
            way("half-size", Blur::pyramid);
            if (sigma > 10) way("quarter-size", Blur::quarter);
        }
        peer.add("W7", format, "resize", [p](const Request &r) { return quarters(*p, r); });
        peer.add("W9", format, "addWeighted", [p](const Request &r) { return crossFade(*p, r); });
    }
    peer.add("W3-luma", "gray", "bilateralFilter", [p](const Request &r) { return bilateral(*p, r); });
    for (const char *row : {"W3-rgb", "W3-guided"})
        peer.add(row, "rgba", "bilateralFilter", [p](const Request &r) { return bilateral(*p, r); });
    peer.add("W4", "rgba", "multiply,add", [p](const Request &r) { return overlay(*p, r); });
    peer.add("W8", "rgba", "soft", [p](const Request &r) { return key(*p, r, true); });
    peer.add("W8", "rgba", "hard", [p](const Request &r) { return key(*p, r, false); });
    peer.add("W6-sobel", "rgba", "Sobel", [p](const Request &r) { return sobel(*p, r, false); });
    peer.add("W6-sobel", "rgba", "spatialGradient", [p](const Request &r) { return sobel(*p, r, true); });
    peer.add("W6-3x3", "rgba", "filter2D", [p](const Request &r) { return convolution(*p, r, false); });
    peer.add("W6-3x3", "rgba", "filter2D-in-bands", [p](const Request &r) { return convolution(*p, r, true); });
    peer.add("W10-decode", "yuv420p", "cvtColor", [p](const Request &r) { return decode(*p, r); });
    peer.add("W10-encode", "rgba", "cvtColor", [p](const Request &r) { return encode(*p, r, false); });
    peer.add("W10-both", "yuv420p", "cvtColor", [p](const Request &r) { return encode(*p, r, true); });
    return peer.serve();
}

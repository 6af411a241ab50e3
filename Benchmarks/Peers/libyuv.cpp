// libyuv: chains of its 8-bit row functions, in strips that stay in the second-level cache, bands on threads.
//
// Formats are named by words there: R, G, B, A in memory is "ABGR". BT.601 limited range throughout, the only matrix
// that its RGB → Y'CbCr functions know.
#include <libyuv.h>

#include "peer.hpp"

// Rows a strip: 16 rows of 1080p RGBA are 120 KiB.
constexpr int strip = 16;

/// Contrast and saturation (signed, 1/64 steps), and tables and masks for the rest of the look.
struct LookTables {
    alignas(16) int8_t matrix[16] = {};
    alignas(64) uint8_t gamma[1024];
    /// The same curve as a cubic, which the library computes in vectors; within 0.7 of a code above code 4.
    alignas(16) float cubic[16] = {};
    Picture mask;

    LookTables(int width, int height) : mask("rgba", width, height) {
        for (int to = 0; to < 3; to++)
            for (int from = 0; from < 3; from++)
                matrix[4 * to + from] = int8_t(std::lround(64 * look::matrix(to, from)));
        matrix[15] = 64;
        for (int i = 0; i < 256; i++)
            for (int c = 0; c < 4; c++) gamma[4 * i + c] = c == 3 ? i : look::gammaCode(i);
        fitCubic();
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                uint8_t *pixel = mask.plane[0] + size_t(y) * mask.stride[0] + 4 * x;
                pixel[0] = pixel[1] = pixel[2] = look::code(std::pow(look::vignette(x, y, width, height), look::gamma));
                pixel[3] = 255;
            }
    }
    /// Least squares over the 256 codes, by the normal equations.
    void fitCubic() {
        double a[4][5] = {};
        for (int i = 0; i < 256; i++) {
            const double x = i / 255.0, power[4] = {1, x, x * x, x * x * x}, value = 255 * std::pow(x, look::gamma);
            for (int r = 0; r < 4; r++) {
                for (int c = 0; c < 4; c++) a[r][c] += power[r] * power[c];
                a[r][4] += power[r] * value;
            }
        }
        for (int r = 0; r < 4; r++)
            for (int other = 0; other < 4; other++) {
                if (other == r) continue;
                const double factor = a[other][r] / a[r][r];
                for (int c = r; c < 5; c++) a[other][c] -= factor * a[r][c];
            }
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 3; c++)
                cubic[4 * r + c] = float(a[r][4] / a[r][r] / std::pow(255.0, r));
        cubic[7] = 1;
    }
    /// `rows` rows from `y` on.
    void apply(
        const uint8_t *in, int inStride, uint8_t *out, int outStride, int width, int y, int rows, bool byTable) const {
        libyuv::ARGBColorMatrix(in, inStride, out, outStride, matrix, width, rows);
        if (byTable)
            libyuv::RGBColorTable(out, outStride, gamma, 0, 0, width, rows);
        else
            libyuv::ARGBPolynomial(out, outStride, out, outStride, cubic, width, rows);
        libyuv::ARGBMultiply(
            out, outStride, mask.plane[0] + size_t(y) * mask.stride[0], mask.stride[0], out, outStride, width, rows);
    }
};

static Job lookRGBA(Peer &peer, const Request &request, bool byTable) {
    const Picture in = peer.picture("rgba");
    Job job;
    job.output = Picture("rgba", in.width, in.height);
    const Picture out = job.output;
    auto tables = std::make_shared<LookTables>(in.width, in.height);
    auto bands = std::make_shared<Bands>(request.threads);
    job.run = [=] {
        bands->rows(in.height, 2, [&](int first, int last) {
            for (int y = first; y < last; y += strip)
                tables->apply(
                    in.plane[0] + size_t(y) * in.stride[0], in.stride[0], out.plane[0] + size_t(y) * out.stride[0],
                    out.stride[0], in.width, y, std::min(strip, last - y), byTable);
        });
    };
    return job;
}

static void decode(const Picture &in, uint8_t *out, int outStride, int y, int rows) {
    libyuv::I420ToABGR(
        in.plane[0] + size_t(y) * in.stride[0], in.stride[0], in.plane[1] + size_t(y / 2) * in.stride[1], in.stride[1],
        in.plane[2] + size_t(y / 2) * in.stride[2], in.stride[2], out, outStride, in.width, rows);
}
static void encode(const uint8_t *in, int inStride, const Picture &out, int y, int rows) {
    libyuv::ABGRToI420(
        in, inStride, out.plane[0] + size_t(y) * out.stride[0], out.stride[0],
        out.plane[1] + size_t(y / 2) * out.stride[1], out.stride[1], out.plane[2] + size_t(y / 2) * out.stride[2],
        out.stride[2], out.width, rows);
}

/// yuv420p → RGBA → (the look) → yuv420p. `whole`: through an RGBA frame in memory, else strip by strip.
static Job throughRGB(Peer &peer, const Request &request, bool withLook, bool whole) {
    const Picture in = peer.picture("yuv420p");
    Job job;
    job.output = Picture("yuv420p", in.width, in.height);
    const Picture out = job.output;
    auto tables = std::make_shared<LookTables>(in.width, in.height);
    auto bands = std::make_shared<Bands>(request.threads);
    const Picture middle("rgba", in.width, in.height);
    job.run = [=] {
        bands->rows(in.height, 2, [&](int first, int last) {
            const int step = whole ? last - first : strip;
            for (int y = first; y < last; y += step) {
                const int rows = std::min(step, last - y);
                // Strips of one thread share one piece of the frame, so that it stays in cache.
                uint8_t *rgba = middle.plane[0] + size_t(whole ? y : first) * middle.stride[0];
                decode(in, rgba, middle.stride[0], y, rows);
                if (withLook) tables->apply(rgba, middle.stride[0], rgba, middle.stride[0], in.width, y, rows, false);
                encode(rgba, middle.stride[0], out, y, rows);
            }
        });
    };
    return job;
}

static Job oneWay(Peer &peer, const Request &request, bool decoding) {
    const Picture in = peer.picture(decoding ? "yuv420p" : "rgba");
    Job job;
    job.output = Picture(decoding ? "rgba" : "yuv420p", in.width, in.height);
    const Picture out = job.output;
    auto bands = std::make_shared<Bands>(request.threads);
    job.run = [=] {
        bands->rows(in.height, 2, [&](int first, int last) {
            if (decoding)
                decode(in, out.plane[0] + size_t(first) * out.stride[0], out.stride[0], first, last - first);
            else
                encode(in.plane[0] + size_t(first) * in.stride[0], in.stride[0], out, first, last - first);
        });
    };
    return job;
}

/// RGBA → grey → |gx| + |gy| → RGBA. The picture is put into the library's channel order beforehand, untimed.
static Job sobel(Peer &peer, const Request &request) {
    const Picture rgba = peer.picture("rgba");
    const Picture in("rgba", rgba.width, rgba.height);
    libyuv::ABGRToARGB(rgba.plane[0], rgba.stride[0], in.plane[0], in.stride[0], in.width, in.height);
    Job job;
    job.output = Picture("rgba", in.width, in.height);
    const Picture out = job.output;
    auto bands = std::make_shared<Bands>(request.threads);
    job.run = [=] {
        bands->rows(in.height, 1, [&](int first, int last) {
            libyuv::ARGBSobel(
                in.plane[0] + size_t(first) * in.stride[0], in.stride[0], out.plane[0] + size_t(first) * out.stride[0],
                out.stride[0], in.width, last - first);
        });
    };
    return job;
}

/// W4 on RGBA, whose premultiplied blend only wants alpha in the last byte.
static Job overlayRGBA(Peer &peer, const Request &request) {
    const Picture base = peer.picture("rgba"), over = peer.picture("overlay");
    Job job;
    job.output = Picture("rgba", base.width, base.height);
    const Picture out = job.output;
    auto bands = std::make_shared<Bands>(request.threads);
    const int x = overlayX(base.width), y = overlayY(base.height);
    job.run = [=] {
        bands->rows(base.height, 2, [&](int first, int last) {
            const auto at = [](const Picture &p, int x, int y) { return p.plane[0] + size_t(y) * p.stride[0] + 4 * x; };
            libyuv::CopyPlane(
                at(base, 0, first), base.stride[0], at(out, 0, first), out.stride[0], 4 * base.width, last - first);
            const int from = std::max(first, y), to = std::min(last, y + over.height);
            if (from < to)
                libyuv::ARGBBlend(
                    at(over, 0, from - y), over.stride[0], at(out, x, from), out.stride[0], at(out, x, from),
                    out.stride[0], over.width, to - from);
        });
    };
    return job;
}

/// W4 on planes: the upper picture's planes and alpha are made beforehand, untimed.
static Job overlayYUV(Peer &peer, const Request &request) {
    const Picture base = peer.picture("yuv420p"), straight = peer.picture("overlay-straight");
    const Picture over("yuv420p", straight.width, straight.height);
    encode(straight.plane[0], straight.stride[0], over, 0, straight.height);
    const Picture alpha("gray", straight.width, straight.height);
    for (int y = 0; y < alpha.height; y++)
        for (int x = 0; x < alpha.width; x++)
            alpha.plane[0][size_t(y) * alpha.stride[0] + x] = straight.plane[0][size_t(y) * straight.stride[0] + 4 * x + 3];
    Job job;
    job.output = Picture("yuv420p", base.width, base.height);
    const Picture out = job.output;
    auto bands = std::make_shared<Bands>(request.threads);
    const int x = overlayX(base.width), y = overlayY(base.height);
    job.run = [=] {
        bands->rows(base.height, 2, [&](int first, int last) {
            for (int p = 0; p < 3; p++) {
                const int a = p ? first / 2 : first, b = p ? (last + 1) / 2 : last;
                libyuv::CopyPlane(
                    base.plane[p] + size_t(a) * base.stride[p], base.stride[p], out.plane[p] + size_t(a) * out.stride[p],
                    out.stride[p], base.rowBytes(p), b - a);
            }
            const int from = std::max(first, y), to = std::min(last, y + over.height);
            if (from >= to) return;
            const auto at = [&](const Picture &p, int plane, int px, int py) {
                return p.plane[plane] + size_t(plane ? py / 2 : py) * p.stride[plane] + (plane ? px / 2 : px);
            };
            uint8_t *to0 = at(out, 0, x, from), *to1 = at(out, 1, x, from), *to2 = at(out, 2, x, from);
            libyuv::I420Blend(
                at(over, 0, 0, from - y), over.stride[0], at(over, 1, 0, from - y), over.stride[1],
                at(over, 2, 0, from - y), over.stride[2], to0, out.stride[0], to1, out.stride[1], to2, out.stride[2],
                alpha.plane[0] + size_t(from - y) * alpha.stride[0], alpha.stride[0], to0, out.stride[0], to1,
                out.stride[1], to2, out.stride[2], over.width, to - from);
        });
    };
    return job;
}

/// W7: each input scaled straight into its quarter, two inputs a thread.
static Job quarters(Peer &peer, const Request &request) {
    std::vector<Picture> inputs;
    for (const char *name : {"", "b-", "", "b-"}) inputs.push_back(peer.picture(name + request.format));
    Job job;
    job.output = Picture(request.format, inputs[0].width, inputs[0].height);
    const Picture out = job.output;
    auto bands = std::make_shared<Bands>(request.threads);
    job.run = [=] {
        bands->rows(4, 1, [&](int first, int last) {
            for (int i = first; i < last; i++) {
                const Picture &in = inputs[i];
                for (int p = 0; p < in.planes(); p++) {
                    const int w = in.format == "rgba" ? in.width : in.rowBytes(p), h = in.rows(p);
                    const int bytes = in.format == "rgba" ? 4 : 1;
                    uint8_t *to = out.plane[p] + size_t(i / 2 * (h / 2)) * out.stride[p] + i % 2 * (w / 2) * bytes;
                    if (bytes == 4)
                        libyuv::ARGBScale(
                            in.plane[p], in.stride[p], w, h, to, out.stride[p], w / 2, h / 2, libyuv::kFilterBilinear);
                    else
                        libyuv::ScalePlane(
                            in.plane[p], in.stride[p], w, h, to, out.stride[p], w / 2, h / 2, libyuv::kFilterBilinear);
                }
            }
        });
    };
    return job;
}

static Job crossFade(Peer &peer, const Request &request) {
    const Picture a = peer.picture(request.format), b = peer.picture("b-" + request.format);
    Job job;
    job.output = Picture(request.format, a.width, a.height);
    const Picture out = job.output;
    auto bands = std::make_shared<Bands>(request.threads);
    job.run = [=] {
        bands->rows(a.height, 2, [&](int first, int last) {
            for (int p = 0; p < a.planes(); p++) {
                const int from = p ? first / 2 : first, to = p ? (last + 1) / 2 : last;
                const auto at = [&](const Picture &q) { return q.plane[p] + size_t(from) * q.stride[p]; };
                libyuv::InterpolatePlane(
                    at(a), a.stride[p], at(b), b.stride[p], at(out), out.stride[p], a.rowBytes(p), to - from,
                    int(256 * fade));
            }
        });
    };
    return job;
}

int main() {
    Peer peer;
    const auto p = &peer;
    peer.add("W4", "rgba", "ARGBBlend", [p](const Request &r) { return overlayRGBA(*p, r); });
    peer.add("W4", "yuv420p", "I420Blend", [p](const Request &r) { return overlayYUV(*p, r); });
    for (const char *format : {"rgba", "yuv420p"}) {
        peer.add("W7", format, "Scale", [p](const Request &r) { return quarters(*p, r); });
        peer.add("W9", format, "Interpolate", [p](const Request &r) { return crossFade(*p, r); });
    }
    peer.add("W1", "rgba", "matrix,table,multiply", [p](const Request &r) { return lookRGBA(*p, r, true); });
    peer.add("W1", "rgba", "matrix,polynomial,multiply", [p](const Request &r) { return lookRGBA(*p, r, false); });
    peer.add("W1", "yuv420p", "strips", [p](const Request &r) { return throughRGB(*p, r, true, false); });
    peer.add("W6-sobel", "rgba", "ARGBSobel", [p](const Request &r) { return sobel(*p, r); });
    peer.add("W10-decode", "yuv420p", "I420ToABGR", [p](const Request &r) { return oneWay(*p, r, true); });
    peer.add("W10-encode", "rgba", "ABGRToI420", [p](const Request &r) { return oneWay(*p, r, false); });
    peer.add("W10-both", "yuv420p", "frame", [p](const Request &r) { return throughRGB(*p, r, false, true); });
    peer.add("W10-both", "yuv420p", "strips", [p](const Request &r) { return throughRGB(*p, r, false, false); });
    return peer.serve();
}

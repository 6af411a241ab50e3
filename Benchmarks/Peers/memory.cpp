// The limit: memcpy of the frame that a workload reads and writes at least.
#include "peer.hpp"

static Job copy(Peer &peer, const std::string &format, const Request &request) {
    const Picture in = peer.picture(format);
    Job job;
    job.output = Picture(in.format, in.width, in.height);
    auto bands = std::make_shared<Bands>(request.threads);
    const Picture out = job.output;
    job.run = [in, out, bands] {
        bands->rows(in.height, 2, [&](int first, int last) {
            for (int p = 0; p < in.planes(); p++) {
                const int from = p ? first / 2 : first, to = p ? (last + 1) / 2 : last;
                std::memcpy(
                    out.plane[p] + size_t(from) * out.stride[p], in.plane[p] + size_t(from) * in.stride[p],
                    size_t(to - from) * in.stride[p]);
            }
        });
    };
    return job;
}

int main() {
    Peer peer;
    for (const char *format : {"rgba", "yuv420p"})
        peer.add("copy", format, "memcpy", [&peer, format](const Request &r) { return copy(peer, format, r); });
    return peer.serve();
}

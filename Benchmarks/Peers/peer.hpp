// What every peer program shares: pictures, row bands on threads, and the line protocol by which PatchBench drives it.
//
// The protocol, one request a line on stdin, the answer on stdout:
//   list                                       "way WORKLOAD FORMAT NAME" for each way of writing each workload, "."
//   load NAME FORMAT WIDTH HEIGHT FILE         reads a raw picture (tight rows, planes one after the other), "."
//   cube FILE                                  reads a 3D LUT in .cube form, "."
//   run WORKLOAD FORMAT NAME threads=N iterations=N
//                                              "times MS MS …", one for each frame, "."
//   dump FILE                                  writes what the last run produced, "output FORMAT WIDTH HEIGHT", "."
//   forget                                     frees what was prepared, "."
//   quit
// A request that fails is answered by "error TEXT" and ".". The first `run` of a way prepares and warms it.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A picture in memory: rgba, yuv420p or gray; rows begin on 64-byte boundaries.
struct Picture {
    std::string format;
    int width = 0, height = 0;
    uint8_t *plane[3] = {};
    int stride[3] = {};
    std::shared_ptr<uint8_t> memory;

    Picture() = default;
    Picture(const std::string &format, int width, int height) : format(format), width(width), height(height) {
        size_t offset[3] = {}, total = 0;
        for (int i = 0; i < planes(); i++) {
            stride[i] = (rowBytes(i) + 63) / 64 * 64;
            offset[i] = total;
            total += size_t(stride[i]) * rows(i) + 64;
        }
        memory.reset(static_cast<uint8_t *>(std::aligned_alloc(64, (total + 63) / 64 * 64)), std::free);
        std::memset(memory.get(), 0, total);
        for (int i = 0; i < planes(); i++) plane[i] = memory.get() + offset[i] / 64 * 64;
    }

    int planes() const { return format == "yuv420p" ? 3 : 1; }
    int rows(int p) const { return p ? (height + 1) / 2 : height; }
    int rowBytes(int p) const { return p ? (width + 1) / 2 : format == "rgba" ? width * 4 : width; }
};

/// One way of one workload, ready to run. `run` makes one frame; the result is in `output` afterwards.
struct Job {
    std::function<void()> run;
    Picture output;
    /// Where the library chooses the output's memory itself: copies it into `output`, untimed.
    std::function<void()> collect;
};

struct Request {
    std::string workload, format;
    int threads = 1;
};

/// The look of W1: what the other side of the comparison computes in floats, as tables and masks for 8-bit libraries.
namespace look {
constexpr double contrast = 1.1, brightness = 0.05, saturation = 0.8, gamma = 0.9;
constexpr double red = 0.2126, green = 0.7152, blue = 0.0722;
constexpr double vignetteStart = 0.3, vignetteEnd = 0.75;
/// What contrast and brightness add after contrast's factor: (c − 0.5) · 1.1 + 0.5 + 0.05.
constexpr double offset = 0.5 - 0.5 * contrast + brightness;

/// How much of the picture the vignette leaves at a pixel, 0…1.
inline double vignette(int x, int y, int width, int height) {
    const double d = std::hypot((x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5);
    const double t = std::min(1.0, std::max(0.0, (d - vignetteStart) / (vignetteEnd - vignetteStart)));
    return 1 - t * t * (3 - 2 * t);
}
/// Contrast and saturation as one matrix on R, G, B: row `to`, column `from`.
inline double matrix(int to, int from) {
    const double luma[3] = {red, green, blue};
    return contrast * ((1 - saturation) * luma[from] + (to == from ? saturation : 0));
}
inline uint8_t code(double value) { return uint8_t(std::lround(255 * std::min(1.0, std::max(0.0, value)))); }
/// (m · x)^g = m^g · x^g: gamma may come before the vignette, whose mask then carries the exponent.
inline uint8_t gammaCode(int x) { return code(std::pow(x / 255.0, gamma)); }
}  // namespace look

/// Two or more threads that share the rows of a picture in bands. The caller is one of them; the others spin a moment for
/// the next frame before they sleep, so that hardly any wake-up is charged to the library.
class Bands {
    int count;
    std::vector<std::thread> others;
    std::atomic<int> generation{0}, left{0};
    std::atomic<bool> stopping{false};
    std::function<void(int)> work;

  public:
    explicit Bands(int count) : count(count) {
        for (int i = 1; i < count; i++)
            others.emplace_back([this, i] {
                for (int seen = 0;;) {
                    for (int spins = 0; spins < 20000 && generation.load(std::memory_order_acquire) == seen;) spins++;
                    generation.wait(seen, std::memory_order_acquire);
                    if (stopping) return;
                    seen++;
                    work(i);
                    left.fetch_sub(1, std::memory_order_release);
                }
            });
    }
    ~Bands() {
        stopping = true;
        generation.fetch_add(1, std::memory_order_release);
        generation.notify_all();
        for (auto &thread : others) thread.join();
    }
    /// Calls `body(first, last)` for the rows of each thread's band; bands begin on a multiple of `align`.
    void rows(int height, int align, const std::function<void(int, int)> &body) {
        if (count == 1) return body(0, height);
        const int each = ((height + count - 1) / count + align - 1) / align * align;
        work = [&](int i) {
            if (i * each < height) body(i * each, std::min(height, (i + 1) * each));
        };
        left.store(count - 1, std::memory_order_relaxed);
        generation.fetch_add(1, std::memory_order_release);
        generation.notify_all();
        work(0);
        while (left.load(std::memory_order_acquire) > 0) {}
    }
};

/// A peer: its ways by name, and the pictures that were loaded.
class Peer {
    using Maker = std::function<Job(const Request &)>;
    struct Way {
        std::string workload, format, name;
        Maker make;
    };
    std::vector<Way> ways;
    std::map<std::string, Job> prepared;
    Job *last = nullptr;

  public:
    std::map<std::string, Picture> pictures;
    std::string cubeFile;

    void add(const std::string &workload, const std::string &format, const std::string &name, Maker make) {
        ways.push_back({workload, format, name, std::move(make)});
    }
    const Picture &picture(const std::string &name) const {
        const auto found = pictures.find(name);
        if (found == pictures.end()) throw Failure("no picture '" + name + "' was loaded");
        return found->second;
    }
    int serve() {
        std::ios::sync_with_stdio(false);
        for (std::string line; std::getline(std::cin, line);) {
            if (line == "quit") break;
            try {
                answer(line);
            } catch (const std::exception &problem) {
                std::string text = problem.what();
                for (auto &c : text)
                    if (c == '\n') c = ' ';
                std::cout << "error " << text << "\n";
            }
            std::cout << "." << std::endl;
        }
        prepared.clear();
        return 0;
    }

  private:
    static int number(const std::string &word, const std::string &key) {
        if (word.compare(0, key.size() + 1, key + "=") != 0) throw Failure("expected " + key + "=, got " + word);
        return std::stoi(word.substr(key.size() + 1));
    }
    void answer(const std::string &line) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (verb == "list") {
            for (const auto &way : ways)
                std::cout << "way " << way.workload << " " << way.format << " " << way.name << "\n";
        } else if (verb == "load") {
            std::string name, format, file;
            int width, height;
            words >> name >> format >> width >> height >> std::ws;
            std::getline(words, file);
            load(name, format, width, height, file);
        } else if (verb == "cube") {
            words >> std::ws;
            std::getline(words, cubeFile);
        } else if (verb == "run") {
            std::string workload, format, name, threads, iterations;
            words >> workload >> format >> name >> threads >> iterations;
            run({workload, format, number(threads, "threads")}, name, number(iterations, "iterations"));
        } else if (verb == "dump") {
            std::string file;
            words >> std::ws;
            std::getline(words, file);
            dump(file);
        } else if (verb == "forget") {
            prepared.clear();
            last = nullptr;
        } else {
            throw Failure("unknown request: " + line);
        }
    }
    void load(const std::string &name, const std::string &format, int width, int height, const std::string &file) {
        Picture picture(format, width, height);
        std::unique_ptr<FILE, int (*)(FILE *)> in(std::fopen(file.c_str(), "rb"), std::fclose);
        if (!in) throw Failure("cannot open " + file);
        for (int p = 0; p < picture.planes(); p++)
            for (int y = 0; y < picture.rows(p); y++)
                if (std::fread(picture.plane[p] + size_t(y) * picture.stride[p], picture.rowBytes(p), 1, in.get()) != 1)
                    throw Failure(file + " is too short");
        pictures[name] = picture;
    }
    void run(const Request &request, const std::string &name, int iterations) {
        const auto key = request.workload + " " + request.format + " " + name + " " + std::to_string(request.threads);
        auto found = prepared.find(key);
        if (found == prepared.end()) {
            for (const auto &way : ways) {
                if (way.workload != request.workload || way.format != request.format || way.name != name) continue;
                found = prepared.emplace(key, way.make(request)).first;
                for (int i = 0; i < 3; i++) found->second.run();
                break;
            }
            if (found == prepared.end()) throw Failure("no such way: " + key);
        }
        last = &found->second;
        std::cout << "times";
        for (int i = 0; i < iterations; i++) {
            const auto start = std::chrono::steady_clock::now();
            last->run();
            const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
            std::cout << " " << time.count();
        }
        std::cout << "\n";
    }
    void dump(const std::string &file) {
        if (!last) throw Failure("nothing has run yet");
        if (last->collect) last->collect();
        const Picture &picture = last->output;
        std::unique_ptr<FILE, int (*)(FILE *)> out(std::fopen(file.c_str(), "wb"), std::fclose);
        if (!out) throw Failure("cannot write " + file);
        for (int p = 0; p < picture.planes(); p++)
            for (int y = 0; y < picture.rows(p); y++)
                if (std::fwrite(picture.plane[p] + size_t(y) * picture.stride[p], picture.rowBytes(p), 1, out.get()) != 1)
                    throw Failure("cannot write " + file);
        std::cout << "output " << picture.format << " " << picture.width << " " << picture.height << "\n";
    }
};

/// W4's upper picture: where it lies on the lower one (its own size says the rest). As `Overlay` in PatchBench.
inline int overlayX(int width) { return width / 6 / 2 * 2; }
inline int overlayY(int height) { return height / 6 / 2 * 2; }
/// W8: how far from green a pixel's chroma must be to stay: none below `keyThreshold`, all above plus `keySmoothing`;
/// distances as 1.41 times that of (Cb, Cr) in −0.5…0.5. As `ChromaKey` in PatchBench.
constexpr double keyThreshold = 0.5, keySmoothing = 0.2;
/// W9: how far the cross-fade has come.
constexpr double fade = 0.25;

/// W6's 3×3 kernel, in sixteenths: a sharpening that is not separable; its sum is 1.
constexpr int sharpen[9] = {-1, -2, -1, -2, 28, -2, -1, -2, -1};

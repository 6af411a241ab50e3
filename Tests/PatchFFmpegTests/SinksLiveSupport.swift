import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Synchronization
import Testing

/// Feeds a sink in real time on a thread of its own, as the engine does, until stopped.
final class LiveFeed: Sendable {
    private let stopped = Atomic(false)
    private let ended = Monitor<(any Error)??>(nil)
    /// Monotonic nanoseconds at which a tick was handed over.
    let longestCall = Atomic<Int64>(0)

    init(
        _ sink: any MediaSink, width: Int = 320, height: Int = 240, sound: Bool = true, flashes: Bool = false,
        noise: Bool = false
    ) throws {
        _ = try PosixThread(name: "feed") { [self] in
            var failure: (any Error)?
            do {
                let feeder = try Feeder(sink, width: width, height: height, sound: sound)
                // Knuth's MMIX generator: the system's would take longer than a frame in a debug build.
                var random: UInt64 = 1
                let start = monotonicNanoseconds()
                while !stopped.load(ordering: .relaxed) {
                    let due = start + feeder.rate.time(ofFrame: feeder.tick).nanoseconds
                    let wait = due - monotonicNanoseconds()
                    if wait > 0 { usleep(UInt32(wait / 1000)) }
                    let before = monotonicNanoseconds()
                    if noise {
                        try feeder.feed { frame, _ in
                            for y in 0..<frame.height {
                                let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt64.self)
                                for x in 0..<frame.width / 8 {
                                    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                                    row[x] = random ^ random >> 32
                                }
                            }
                        }
                    } else {
                        try feeder.feed(flashes: flashes)
                    }
                    let took = monotonicNanoseconds() - before
                    longestCall.store(max(took, longestCall.load(ordering: .relaxed)), ordering: .relaxed)
                }
            } catch { failure = error }
            sink.finish()
            ended.notify { $0 = .some(failure) }
        }
    }

    /// Ends the stream and waits until the sink has finished.
    func stop() throws {
        stopped.store(true, ordering: .relaxed)
        let failure = try #require(
            ended.wait(until: monotonicNanoseconds() + 20_000_000_000) { $0 }, "the sink does not finish")
        if let failure { throw failure }
    }
}

/// A TCP socket on loopback that listens and does only what it is told.
final class Listener: Sendable {
    let port: Int
    private let descriptor: Int32
    private let peer = Atomic<Int32>(-1)
    private let done = Atomic(false)

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Small buffers, so that a receiver that does not read is noticed soon.
        var size: Int32 = 65_536
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) + listen(descriptor, 1) + getsockname(descriptor, $0, &length)
            }
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        guard status == 0 else { throw TestProblem("no listening socket") }
    }

    func accept() throws {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw TestProblem("accept failed") }
        peer.store(accepted, ordering: .relaxed)
    }

    /// Reads at least `count` bytes.
    func read(atLeast count: Int) -> [UInt8] {
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count < count {
            let got = Glibc.read(peer.load(ordering: .relaxed), &buffer, buffer.count)
            guard got > 0 else { break }
            bytes += buffer[..<got]
        }
        return bytes
    }

    /// Ends the connection, as a peer that crashed.
    func drop() { close(peer.exchange(-1, ordering: .relaxed)) }

    /// Reads to the end of the stream.
    func readAll(_ take: ([UInt8]) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(peer.load(ordering: .relaxed), &buffer, buffer.count)
            guard count > 0 else { break }
            take(Array(buffer[..<count]))
        }
        done.store(true, ordering: .relaxed)
    }

    var isDone: Bool { done.load(ordering: .relaxed) }

    deinit {
        close(descriptor)
        if peer.load(ordering: .relaxed) >= 0 { close(peer.load(ordering: .relaxed)) }
    }
}

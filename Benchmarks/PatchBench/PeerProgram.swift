import Foundation

/// A peer: a program that does the workloads by another library and answers the protocol of Benchmarks/Peers/peer.hpp.
final class PeerProgram {
    let name: String
    private let process = Process()
    private let requests = Pipe()
    private let answers = Pipe()
    private var unread: [UInt8] = []

    /// What it can do: workload, format, name of the way.
    private(set) var ways: [(workload: String, format: String, name: String)] = []

    /// - Throws: `BenchProblem` when it cannot be started or does not answer.
    init(path: String) throws {
        name = URL(fileURLWithPath: path).lastPathComponent
        process.executableURL = URL(fileURLWithPath: path)
        process.standardInput = requests
        process.standardOutput = answers
        // GStreamer reads and writes its list of plugins there; warnings of plugins are not ours.
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw BenchProblem("cannot start \(path): \(error)")
        }
        ways = try ask("list").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            return words.count == 4 && words[0] == "way" ? (words[1], words[2], words[3]) : nil
        }
    }

    deinit {
        try? requests.fileHandleForWriting.write(contentsOf: Data("quit\n".utf8))
        process.waitUntilExit()
    }

    /// Sends a request and gives the lines of the answer.
    /// - Throws: `BenchProblem` with the peer's own words when it could not do it, or when it is gone.
    @discardableResult
    func ask(_ request: String) throws -> [String] {
        try requests.fileHandleForWriting.write(contentsOf: Data((request + "\n").utf8))
        var lines: [String] = []
        while true {
            let line = try readLine()
            if line == "." { return lines }
            if line.hasPrefix("error ") {
                _ = try readLine()
                throw BenchProblem("\(name): \(request): \(line.dropFirst(6))")
            }
            lines.append(line)
        }
    }

    private func readLine() throws -> String {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeSubrange(...end)
                return line
            }
            let data = answers.fileHandleForReading.availableData
            guard !data.isEmpty else { throw BenchProblem("\(name) ended unexpectedly") }
            unread += data
        }
    }

    /// Milliseconds of each of `iterations` frames.
    func run(_ workload: String, _ format: String, _ way: String, threads: Int, iterations: Int) throws -> [Double] {
        let answer = try ask("run \(workload) \(format) \(way) threads=\(threads) iterations=\(iterations)")
        return answer.flatMap { $0.split(separator: " ").compactMap { Double($0) } }
    }
}

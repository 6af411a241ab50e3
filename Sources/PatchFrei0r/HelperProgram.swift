internal import CFrei0r
import Glibc
import PatchMedia

/// The program patchbay-guest: where it is and how it is started.
///
/// Thread-safety: all members may be called from any thread.
enum HelperProgram {
    /// Beside the running program, beside this library, or what PATCHBAY_GUEST_HOST names.
    /// - Throws: `PatchError.unavailable` when it is nowhere.
    static func path() throws -> String {
        if let named = getenv("PATCHBAY_GUEST_HOST") { return String(cString: named) }
        var candidates: [String] = []
        if let file = patch_image_of(#dsohandle) { candidates.append(String(cString: file)) }
        candidates.append("/proc/self/exe")
        for candidate in candidates {
            guard let real = realpath(candidate, nil) else { continue }
            defer { free(real) }
            let file = String(cString: real)
            guard let slash = file.lastIndex(of: "/") else { continue }
            let helper = file[..<slash] + "/patchbay-guest"
            if access(String(helper), X_OK) == 0 { return String(helper) }
        }
        throw PatchError(
            .unavailable, "the program patchbay-guest, which runs frei0r plugins, is not beside this program",
            remedy: "build it: swift build -c release --product patchbay-guest; or set PATCHBAY_GUEST_HOST")
    }

    /// Starts it (posix_spawn) with `third` and `fourth` as descriptors 3 and 4 and without the environment's secrets.
    /// - Throws: `PatchError` when the system refuses.
    static func start(_ arguments: [String], third: Int32, fourth: Int32?) throws -> pid_t {
        let program = try path()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // Moved up first, so that neither lands where the other still lies.
        posix_spawn_file_actions_adddup2(&actions, third, 100)
        if let fourth { posix_spawn_file_actions_adddup2(&actions, fourth, 101) }
        posix_spawn_file_actions_adddup2(&actions, 100, Int32(PATCH_GUEST_SOCKET))
        if fourth != nil { posix_spawn_file_actions_adddup2(&actions, 101, Int32(PATCH_GUEST_MEMORY)) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A group of its own: Ctrl-C at the terminal is for Patchbay, which then ends its guests.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        let kept = ["PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "ASAN_OPTIONS"]
        var variables: [UnsafeMutablePointer<CChar>?] = kept.compactMap { name in
            getenv(name).map { strdup("\(name)=" + String(cString: $0)) }
        }
        variables.append(nil)
        defer { for word in words + variables { free(word) } }
        var child = pid_t()
        let status = posix_spawn(&child, program, &actions, &attributes, &words, &variables)
        guard status == 0 else {
            throw PatchError(
                .unavailable, "'\(program)' cannot be started", remedy: "check that it may be executed",
                cause: String(cString: strerror(status)))
        }
        return child
    }

    /// Waits for the end of a child, at most until `deadline` (monotonic nanoseconds), and ends it then.
    /// - Returns: its exit code, or its signal as a negative number.
    @discardableResult
    static func reap(_ child: pid_t, until deadline: Int64) -> Int32 {
        var status: Int32 = 0
        while true {
            let result = waitpid(child, &status, WNOHANG)
            if result == child { return patch_exit_status(status) }
            if result < 0, errno != EINTR { return 0 }
            if monotonicNanoseconds() >= deadline { break }
            usleep(1000)
        }
        kill(child, SIGKILL)
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return -SIGKILL
    }

    /// How a plugin's process ended, as a person says it.
    static func describe(_ status: Int32) -> String {
        switch -status {
        case SIGSEGV: "it crashed: segmentation fault"
        case SIGABRT: "it aborted"
        case SIGFPE: "it crashed: arithmetic error"
        case SIGILL: "it crashed: illegal instruction"
        case SIGBUS: "it crashed: bus error"
        case SIGKILL: "it was killed"
        case 1...: "it was ended by signal \(-status)"
        default: "it ended with code \(status)"
        }
    }
}

import Foundation

/// The program that decodes photos.
package enum DarkroomProgram {
  package static let path = Programs.path(of: "photospool-darkroom")

  /// The versions of the decoding libraries; nil if the program cannot be started.
  package static func libraries() -> String? {
    guard let (text, status) = Programs.output(of: path, "--version"), status == 0 else { return nil }
    return text.trimmingCharacters(in: .newlines)
  }

  /// Tests the sandbox. Returns a sentence.
  ///
  /// - Throws: the failed protection.
  package static func probe() throws -> String {
    guard let (text, status) = Programs.output(of: path, "probe") else {
      throw Failure(.configuration, "\(path) cannot be started; install photospool again")
    }
    let lines = text.split(separator: "\n")
    let allowed = lines.filter { $0.hasSuffix("ALLOWED") }.map { String($0.prefix { $0 != ":" }) }
    guard status == 0 else {
      throw Failure(
        .configuration,
        allowed.isEmpty
          ? "photos are not decoded, as the process for it cannot be locked in; a kernel with seccomp is needed"
          : "the process that decodes photos could \(allowed.joined(separator: ", ")); do not run it on this kernel")
    }
    let hasLandlock = lines.first?.hasPrefix("landlock: version") == true
    return "photos are decoded in a locked process: system calls filtered, "
      + (hasLandlock ? "Landlock in force" : "no Landlock in this kernel")
  }
}

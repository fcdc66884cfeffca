import Foundation
import Imaging
import Messages
import Photos
import Testing

/// Prepares a photo under the default limits with changes.
func prepare(
  _ photo: [UInt8], _ change: (inout PhotoLimits) -> Void = { _ in }
) throws(DeliveryError) -> PreparedPhoto {
  var limits = PhotoLimits()
  change(&limits)
  return try Preparer().prepare(photo, limits: limits)
}

/// Expects that a photo is prepared, and that its mean difference from a scene of the same size is within a tolerance.
///
/// - Parameters:
///   - format: what it is, unless it is a JPEG.
///   - orientation: how it is stored.
func expect(
  _ photo: [UInt8], _ format: PhotoFormat? = nil, shows scene: Scene, within tolerance: Double = 4,
  orientation: Int? = nil, at location: SourceLocation = #_sourceLocation
) throws {
  let prepared = try prepare(photo)
  if let format { #expect(prepared.original.format == format && !prepared.isLossless, sourceLocation: location) }
  if let orientation { #expect(prepared.original.orientation == orientation, sourceLocation: location) }
  #expect((prepared.width, prepared.height) == (scene.width, scene.height), sourceLocation: location)
  let difference = try Camera().look(at: prepared.jpeg).difference(from: scene)
  #expect(difference < tolerance, "differs by \(difference)", sourceLocation: location)
}

/// The error of a refused photo; a prepared photo fails the test.
func refusal(
  of photo: [UInt8], _ change: (inout PhotoLimits) -> Void = { _ in }, at location: SourceLocation = #_sourceLocation
) -> DeliveryError? {
  do {
    let prepared = try prepare(photo, change)
    Issue.record("it was prepared: \(prepared.width)x\(prepared.height)", sourceLocation: location)
    return nil
  } catch {
    let remedy = error.sentence.components(separatedBy: "; ").dropFirst().last ?? ""
    #expect(
      ["send ", "save it ", "try again when ", "raise "].contains { remedy.hasPrefix($0) },
      "the sentence does not end with what to do: \(error.sentence)", sourceLocation: location)
    return error
  }
}

extension [UInt8] {
  func offset(of pattern: [UInt8], from start: Int = 0) -> Int? {
    Data(self).range(of: Data(pattern), in: start..<count)?.lowerBound
  }

  func contains(_ text: String) -> Bool { offset(of: Array(text.utf8)) != nil }

  func claiming(width: Int, height: Int) throws -> [UInt8] {
    let frame = try #require(offset(of: [0xFF, 0xC0, 0x00, 0x11]))
    var copy = self
    copy[frame + 5] = UInt8(height >> 8)
    copy[frame + 6] = UInt8(height & 255)
    copy[frame + 7] = UInt8(width >> 8)
    copy[frame + 8] = UInt8(width & 255)
    return copy
  }
}

/// Photographs named by the environment; tests with them are skipped without it.
enum Corpus {
  /// The reason for skipping a test, which `Tests/may-skip` allows.
  static let isAbsent: Comment = "there is no corpus of photographs"
  static let path = ProcessInfo.processInfo.environment["PHOTOSPOOL_CORPUS"]

  static func photos(in folder: String) throws -> [(name: String, bytes: [UInt8])] {
    try files(in: folder).filter { $0.name.hasSuffix(".jpg") }
  }

  static func files(in folder: String) throws -> [(name: String, bytes: [UInt8])] {
    let path = try #require(path) + "/" + folder
    return try FileManager.default.contentsOfDirectory(atPath: path).sorted().compactMap { name in
      let file = URL(fileURLWithPath: "\(path)/\(name)")
      let isFile = try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
      return isFile ? (name, [UInt8](try Data(contentsOf: file))) : nil
    }
  }
}

import Imaging
import Photos
import TestSupport
import Testing

/// JPEGs whose last scans are missing, and inks whose marker is hidden.
@Suite struct UnfinishedJPEGTests {
  @Test("An unfinished progression is smoothed as djpeg does, and is not copied", arguments: 1...5)
  func smoothed(scans: Int) throws {
    let camera = try Camera()
    let photo = try camera.photograph(.landscape(width: 320, height: 240), ["-progressive", "-quality", "90"])
    let starts = photo.indices.dropLast().filter { photo[$0] == 0xFF && photo[$0 + 1] == 0xDA }
    let unfinished = photo[..<starts[scans]] + [0xFF, 0xD9]
    let prepared = try prepare(Array(unfinished)) { $0.bestQuality = 97 }
    #expect(!prepared.isLossless)
    let difference = try camera.look(at: prepared.jpeg).difference(from: camera.look(at: Array(unfinished)))
    #expect(difference < 2, "differs by \(difference)")
    #expect(try prepare(photo).isLossless)
  }

  @Test("An Adobe marker that a wrong length hides decides how inks are stored", arguments: [32, 60])
  func hiddenMarker(length: UInt8) throws {
    let camera = try Camera()
    for color in [[200, 60, 50], [30, 60, 190], [128, 128, 128]] as [[UInt8]] {
      let photo = try camera.develop(
        .plain(color[0], color[1], color[2]), ["-colorspace", "CMYK", "-sampling-factor", "1x1", "-quality", "97"])
      let marker = try #require(photo.offset(of: [0xFF, 0xEE, 0x00, 0x0E] + Array("Adobe".utf8)))
      // JFIF's segment claims the marker, and for the greater length also what follows.
      let rest = [UInt8](repeating: 0, count: Int(length) - 32)
      let jfif = [0xFF, 0xE0, 0, length] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
      let hidden = photo[..<2] + jfif + photo[marker..<marker + 16] + rest + photo[(marker + 16)...]
      let seen = try camera.look(at: prepare(Array(hidden)).jpeg)
      #expect(zip(seen.mean, color).allSatisfy { abs($0 - Double($1)) <= 4 }, "\(seen.mean) for \(color)")
    }
  }

  @Test("A hundred megapixels of a progressive photo with full colours fit into the memory for it")
  func largest() {
    let limits = PhotoLimits()
    // Coefficients of two bytes for three components.
    #expect(limits.decoderBytes > limits.pixels * 3 * 2)
  }
}

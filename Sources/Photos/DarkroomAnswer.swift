import Messages

/// The darkroom's answer: the prepared photo or an error.
package struct DarkroomAnswer: Sendable {
  package let result: Result<PreparedPhoto, DeliveryError>

  package init(_ result: Result<PreparedPhoto, DeliveryError>) { self.result = result }

  /// An upper bound for the size of an answer under these limits, in bytes.
  package static func limit(_ limits: PhotoLimits) -> Int { 3 * max(0, limits.outputBytes) + (1 << 16) }

  private static let textLimit = 4096
  private static let wordLimit = 64

  package var encoded: [UInt8] {
    var writer = WireWriter()
    switch result {
    case .failure(let error):
      writer.put(1)
      writer.put(error.cause.rawValue)
      writer.put(error.sentence)
    case .success(let photo):
      writer.put(0)
      Self.put(photo, into: &writer)
    }
    return writer.bytes
  }

  private static func put(_ photo: PreparedPhoto, into writer: inout WireWriter) {
    writer.put(photo.jpeg)
    writer.put(photo.thumbnail)
    writer.put(photo.blurred)
    writer.put(photo.blurhash)
    for number in [photo.width, photo.height, photo.quality ?? 0] { writer.put(number) }
    let original = photo.original
    writer.put(original.format.rawValue)
    for number in [original.bytes, original.width, original.height, original.orientation] { writer.put(number) }
    writer.put(photo.stripped)
  }

  /// Validates an answer, because its process has decoded untrusted bytes. Returns nil for anything that a correct
  /// darkroom cannot answer under these limits.
  package init?(encoded bytes: [UInt8], limits: PhotoLimits) {
    var reader = WireReader(bytes)
    do {
      if try reader.number(in: 0...1) == 1 {
        result = .failure(try Self.error(from: &reader))
      } else {
        result = .success(try Self.photo(from: &reader, limits: limits.sane))
      }
      try reader.end()
    } catch {
      return nil
    }
  }

  private static func error(from reader: inout WireReader) throws(WireReader.Nonsense) -> DeliveryError {
    // A darkroom may only blame the photo, not a destination.
    let causes: [Cause] = [.unsupportedImage, .truncatedImage, .imageLimits, .tooLargeAfterCompress]
    guard let cause = Cause(rawValue: try reader.text(limit: wordLimit)), causes.contains(cause) else {
      throw WireReader.Nonsense()
    }
    return DeliveryError(cause, try reader.line(limit: textLimit))
  }

  private static func photo(
    from reader: inout WireReader, limits: PhotoLimits
  ) throws(WireReader.Nonsense) -> PreparedPhoto {
    let jpeg = try jpeg(from: &reader, limits)
    let thumbnail = try Self.jpeg(from: &reader, limits)
    let blurred = try Self.jpeg(from: &reader, limits)
    let blurhash = try reader.line(limit: wordLimit)
    let width = try reader.number(in: 1...limits.longestSide)
    let height = try reader.number(in: 1...limits.longestSide)
    let quality = try reader.number(in: 0...100)
    guard let format = PhotoFormat(rawValue: try reader.text(limit: wordLimit)) else { throw WireReader.Nonsense() }
    let original = OriginalPhoto(
      format: format, bytes: try reader.number(in: 0...limits.inputBytes),
      width: try reader.number(in: 1...limits.pixels), height: try reader.number(in: 1...limits.pixels),
      orientation: try reader.number(in: 1...8))
    let stripped = try reader.lines(64, limit: wordLimit)
    return PreparedPhoto(
      jpeg: jpeg, width: width, height: height, thumbnail: thumbnail, blurred: blurred, blurhash: blurhash,
      quality: quality == 0 ? nil : quality, original: original, stripped: stripped)
  }

  /// A JPEG within the limits, judged by its first and last bytes.
  private static func jpeg(
    from reader: inout WireReader, _ limits: PhotoLimits
  ) throws(WireReader.Nonsense) -> [UInt8] {
    let bytes = try reader.contents(limit: limits.outputBytes)
    // An untyped `suffix` would be the linear one.
    let end: ArraySlice<UInt8> = bytes.suffix(2)
    guard bytes.starts(with: [0xFF, 0xD8, 0xFF]), end.elementsEqual([0xFF, 0xD9]) else { throw WireReader.Nonsense() }
    return bytes
  }
}

import Blocking
import DurableFiles
import Glibc
import HTTPTypes
import Hummingbird
import Messages
import Spooling

/// A form with photos, as a browser posts it. Photos are on disk under no name, so that nothing is left of them if this
/// process dies.
struct ReceivedForm: Sendable {
  private(set) var photos: [File] = []
  private(set) var fields: [String: String] = [:]
  /// Why the photos cannot be sent; they are incomplete then, and the fields are not.
  private(set) var problem: String?

  /// Bytes of a field other than the text.
  private static let longestField = 8 << 10
  /// Every line break of a text may come as two bytes.
  private static let longestText = 2 * RequestLimits.textFileBytes
  /// Parts of a form. A browser sends one for each photo and field.
  private static let mostParts = 100
  /// Bytes of a whole form.
  private static let longest = 2 * RequestLimits.photos * RequestLimits.photoBytes

  /// Reads a body of type multipart/form-data. A part without bytes and without a file name is an empty choice of files.
  ///
  /// - Throws: `WebProblem` for a body that is malformed or too large, or without room for it.
  init(_ request: Request, into spool: Spool, pool: BlockingPool) async throws {
    var reader: MultipartReader
    do { reader = try MultipartReader(contentType: request.headers[.contentType] ?? "") } catch {
      throw Self.malformed
    }
    try UploadLimits.checkRoom(in: spool)
    var part: Part?
    var (total, parts) = (0, 0)
    do {
      var form = self
      try await request.eachPiece { piece in
        total += piece.readableBytes
        guard total <= Self.longest else {
          throw WebProblem(.contentTooLarge, "This is more than a message can be. Send less; nothing was sent.")
        }
        var events: [MultipartReader.Event] = []
        try reader.read(piece.readableBytesView) { events.append($0) }
        for event in events {
          if case .begin = event { parts += 1 }
          guard parts <= Self.mostParts else {
            throw WebProblem(.contentTooLarge, "This form has more than \(Self.mostParts) parts. Nothing was sent.")
          }
          try await form.take(event, &part, spool, pool)
        }
      }
      self = form
      try reader.finish()
    } catch is MultipartReader.Malformed { throw Self.malformed }
  }

  private static let malformed = WebProblem(
    .badRequest, "The form came in pieces or damaged. Go back and send it again.")

  /// A part while it is read.
  private enum Part {
    case field(name: String, bytes: [UInt8])
    case photo(name: String, file: File, bytes: Int)
  }

  private mutating func take(
    _ event: MultipartReader.Event, _ part: inout Part?, _ spool: Spool, _ pool: BlockingPool
  ) async throws {
    switch (event, part) {
    case (.begin(let header), _):
      guard let fileName = header.fileName else {
        part = .field(name: header.name, bytes: [])
        return
      }
      part = .photo(name: fileName, file: try await pool.run { try spool.unnamedFile() }, bytes: 0)
    case (.bytes(let bytes), .field(let name, let before)):
      let limit = name == "text" ? Self.longestText : Self.longestField
      guard before.count + bytes.count <= limit else {
        throw WebProblem(.contentTooLarge, "The \(name) is longer than \(sizeInWords(limit)). Make it shorter.")
      }
      part = .field(name: name, bytes: before + bytes)
    case (.bytes(let bytes), .photo(let name, let file, let before)):
      if before + bytes.count > RequestLimits.photoBytes {
        problem = "\(name) is larger than \(sizeInWords(RequestLimits.photoBytes)). Send a smaller copy."
      }
      // The rest is read for the fields.
      if problem == nil { try await pool.run { try file.write(bytes) } }
      part = .photo(name: name, file: file, bytes: before + bytes.count)
    case (.end, .field(let name, let bytes)):
      guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.malformed }
      fields[name] = text
    case (.end, .photo(let name, let file, let bytes)):
      guard bytes > 0 || !name.isEmpty else { return }
      guard photos.count < RequestLimits.photos else {
        problem = problem ?? "These are more than \(RequestLimits.photos) photos. Send the others in a second message."
        return
      }
      photos.append(try file.called(name.isEmpty ? "photo" : name))
    case (_, nil): break
    }
  }

  /// The draft that the form goes with; nil for none.
  var draft: String? { fields["draft"].flatMap { $0.isEmpty ? nil : $0 } }

  /// The text with the line breaks of this computer; nil for a blank one.
  var text: String? {
    let text = fields["text"]?.replacing("\r\n", with: "\n") ?? ""
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }
}

extension Spool {
  /// A new name in `tmp/` for entries that nobody looks for.
  static func unnamed() -> String { ".web-\(getpid())-\(UInt64.random(in: 0 ... .max))" }

  /// An empty file on the spool's disk, which ends with its last reference.
  fileprivate func unnamedFile() throws -> File {
    let name = Self.unnamed()
    let file = try tmp.file(appendingTo: name)
    try tmp.remove(name)
    return file
  }
}

import Messages

/// Why a request or an incoming message is refused: one sentence with the error and the remedy.
package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
  case badName
  case notADirectory(String)
  case unreadable(String)
  case outOfReach
  case empty
  case missingRecipient
  case badField(file: String, fault: String)
  case unknownFile(String)
  case backup(String)
  case notAFile(file: String, kind: String)
  case severalLinks(String)
  case foreignOwner(String)
  case tooManyFiles
  case tooManyPhotos(Int)
  case tooLarge(file: String, bytes: Int, limit: Int)
  case notUTF8(String)
  case badSum(String)
  case stillOpen(String)
  case textOfProfile
  case severalProfilePhotos(Int)
  case draftOfProfile
  /// A fault of an incoming message.
  case incoming(String)

  package var description: String {
    switch self {
    case .badName:
      "the name of the request is not 1 to 128 of A-Za-z0-9._- or starts with . or -; rename it and move it into new/ again"
    case .notADirectory(let kind):
      "this is \(kind) and not a directory; make a directory with the files to, photo and text, and move that into new/"
    case .unreadable(let fault):
      "the request cannot be read: \(fault); make it readable for photospool, or use `photospool send`"
    case .outOfReach:
      "photospool may not read, change and move the request's directory; build a new one in tmp/ of the spool with `umask 007`, or use `photospool send`"
    case .empty:
      "the request has neither photo nor text; add a file named photo or text"
    case .missingRecipient:
      "the request has no file named to; write the conversation into it on one line"
    case .badField(let file, let fault):
      "\(escaped(file)): \(fault)"
    case .unknownFile(let file):
      "\(escaped(file)) is not part of a request; only to, from, id, kind, text, .sum and photo* are; remove it or rename it"
    case .backup(let file):
      "\(escaped(file)) is an editor's backup, and would be sent as a photo; remove it"
    case .notAFile(let file, let kind):
      "\(escaped(file)) is \(kind) and not a plain file; put a copy of the file itself there"
    case .severalLinks(let file):
      "\(escaped(file)) has more than one hard link; put a copy of the file there"
    case .foreignOwner(let file):
      "\(escaped(file)) belongs to another user than the request; put a copy of your own there"
    case .tooManyFiles:
      "the request holds more than \(RequestLimits.entries) names; a request has at most \(RequestLimits.photos) photos and one text"
    case .tooManyPhotos(let count):
      "the request holds \(count) photos; the limit is \(RequestLimits.photos); split it into several requests"
    case .tooLarge(let file, let bytes, let limit):
      "\(escaped(file)) has \(bytes) bytes; the limit is \(limit); make it smaller"
    case .notUTF8(let file):
      "\(file) is not UTF-8; convert it, for example with iconv"
    case .badSum(let fault):
      ".sum: \(fault); the request was damaged on its way or .sum is wrong; drop it again"
    case .stillOpen(let file):
      "a program still has \(escaped(file)) open for writing; move a request into new/ only when it is complete"
    case .textOfProfile:
      "kind is profile, and a profile photo has no text; remove the file text"
    case .severalProfilePhotos(let count):
      "kind is profile, and the request holds \(count) photos; leave one to set it, or none to remove the profile photo"
    case .draftOfProfile:
      "kind is profile, and a profile photo cannot be uploaded ahead; move the request into new/"
    case .incoming(let sentence):
      sentence
    }
  }
}

/// A file's name as text, with invalid UTF-8 escaped.
package func escaped(name: [UInt8]) -> String {
  if let text = String(validating: name, as: UTF8.self) { return escaped(text) }
  return name.map { (0x20...0x7E).contains($0) ? String(UnicodeScalar($0)) : "\\x" + [$0].hex }.joined()
}

/// The arguments of sendmail(1) as programs give them. Those that mean nothing here are accepted as elsewhere.
package struct SendmailArguments: Sendable, Equatable {
  /// The task that the arguments ask for.
  package enum Mode: Sendable, Equatable {
    case deliver
    /// `-bp`.
    case showQueue
    /// `-bi`, `-I` and `-q`: there are no aliases, and the daemon works through its queue by itself.
    case nothing
  }

  /// Why the arguments are wrong.
  package struct Fault: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  package private(set) var mode = Mode.deliver
  package private(set) var recipients: [String] = []
  /// `-t`.
  package private(set) var readsRecipients = false
  /// Whether a line with a dot ends the mail; `-i` turns that off.
  package private(set) var endsAtDot = true
  /// `-f`; empty for `-f ""` and `-f "<>"`.
  package private(set) var sender: String?
  /// `-F`.
  package private(set) var fullName: String?

  /// Those of getopt that take a value.
  private static let withValue: Set<Character> = [
    "A", "B", "C", "F", "L", "N", "O", "R", "V", "X", "b", "e", "f", "h", "o", "p", "r",
  ]
  /// Those that take one only in the same word.
  private static let withAttached: Set<Character> = ["q", "d"]
  private static let flags: Set<Character> = ["G", "I", "U", "c", "i", "m", "n", "t", "v", "x"]

  package init(_ arguments: [String]) throws(Fault) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word == "--" {
        recipients += rest
        return
      }
      guard word.hasPrefix("-"), word.count > 1 else {
        recipients.append(word)
        continue
      }
      var letters = word.dropFirst()
      while let letter = letters.popFirst() {
        if Self.flags.contains(letter) {
          take(flag: letter)
        } else if Self.withAttached.contains(letter) {
          if letter == "q" { mode = .nothing }
          letters = ""
        } else if Self.withValue.contains(letter) {
          var value = String(letters)
          letters = ""
          if value.isEmpty {
            guard let next = rest.popFirst() else { throw Fault(description: "the option -\(letter) needs a value") }
            value = next
          }
          try take(letter, value)
        } else {
          throw Fault(description: "there is no option -\(letter); see photospool(1)")
        }
      }
    }
  }

  private mutating func take(flag: Character) {
    switch flag {
    case "i": endsAtDot = false
    case "t": readsRecipients = true
    case "I": mode = .nothing
    default: break
    }
  }

  private mutating func take(_ letter: Character, _ value: String) throws(Fault) {
    switch letter {
    case "f", "r": sender = value == "<>" ? "" : value
    case "F": fullName = value
    case "o": if value == "i" { endsAtDot = false }
    case "b":
      switch value {
      case "m": mode = .deliver
      case "p": mode = .showQueue
      case "i": mode = .nothing
      default: throw Fault(description: "-b\(value) is for SMTP servers, and photospool is no SMTP server; use an MTA")
      }
    default: break
    }
  }
}

import Glibc

/// Converters of charsets to UTF-8. The C library opens a file for each, so all are opened before the sandbox is
/// entered. One thread uses them.
package final class Charsets {
  private var converters: [String: iconv_t] = [:]

  /// All but the stateful ones that mail does not use.
  private static let names =
    (1...16).filter { $0 != 12 }.map { "iso-8859-\($0)" } + (1250...1258).map { "windows-\($0)" }
    + [
      "koi8-r", "koi8-u", "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "utf-16", "utf-7",
      "tis-620", "windows-874", "macintosh",
    ]

  /// Names that devices write for a charset of `names`.
  private static let others = [
    "gb2312": "gb18030", "gbk": "gb18030", "cp936": "gb18030", "euc-cn": "gb18030", "latin1": "windows-1252",
    "latin-1": "windows-1252", "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "sjis": "shift_jis",
    "shift-jis": "shift_jis", "x-sjis": "shift_jis", "windows-31j": "shift_jis", "cp932": "shift_jis",
    "ks_c_5601-1987": "euc-kr", "big5-hkscs": "big5", "iso-8859-8-i": "iso-8859-8", "iso-8859-8-e": "iso-8859-8",
    "x-mac-roman": "macintosh",
  ]

  package init() {
    for name in Self.names {
      let converter = iconv_open("UTF-8", Self.name(ofC: name))
      if converter != iconv_t(bitPattern: -1) { converters[name] = converter }
    }
  }

  deinit { for converter in converters.values { iconv_close(converter) } }

  private static func name(ofC name: String) -> String {
    switch name {
    case "shift_jis": "CP932"
    case "euc-kr": "CP949"
    case let name where name.hasPrefix("windows-"): "CP" + name.dropFirst(8)
    default: name.uppercased()
    }
  }

  /// The text of `bytes`. Text in an unknown charset, or none, is UTF-8 if it is valid, and Windows-1252 otherwise. What
  /// a charset does not have becomes U+FFFD.
  func text(_ bytes: [UInt8], in charset: String) -> String {
    let lower = charset.lowercased()
    let name = Self.others[lower] ?? (lower.hasPrefix("cp125") ? "windows-" + lower.dropFirst(2) : lower)
    if let converter = converters[name] { return convert(bytes, converter) }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    if ["utf-8", "utf8"].contains(name) { return String(decoding: bytes, as: UTF8.self) }
    return converters["windows-1252"].map { convert(bytes, $0) } ?? String(decoding: bytes, as: UTF8.self)
  }

  private func convert(_ bytes: [UInt8], _ converter: iconv_t) -> String {
    // Resets the state that the last text may have left.
    iconv(converter, nil, nil, nil, nil)
    var (input, output) = (bytes, [UInt8](repeating: 0, count: 4096))
    var converted = [UInt8]()
    input.withUnsafeMutableBytes { input in
      output.withUnsafeMutableBytes { output in
        guard var from = input.baseAddress?.assumingMemoryBound(to: CChar.self),
          let start = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        else { return }
        var left = input.count
        while true {
          var to: UnsafeMutablePointer<CChar>? = start
          var room = output.count
          var source: UnsafeMutablePointer<CChar>? = from
          // Converters that combine characters keep the last one until they are told that the text ends.
          let isEnd = left == 0
          let result = isEnd ? iconv(converter, nil, nil, &to, &room) : iconv(converter, &source, &left, &to, &room)
          let code = errno
          if let source { from = source }
          converted.append(contentsOf: output.prefix(output.count - room))
          if result != -1 && isEnd { break }
          if result != -1 || code == E2BIG { continue }
          if isEnd { break }
          // An invalid byte, or the beginning of a character at the end.
          converted += Array("\u{FFFD}".utf8)
          if left > 0 {
            from += 1
            left -= 1
          }
        }
      }
    }
    return String(decoding: converted, as: UTF8.self)
  }
}

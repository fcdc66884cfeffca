import Glibc

/// The unused space of a page in SQLite's file, which may hold copies of rows: SQLite moves rows between pages to
/// balance its trees, and `secure_delete` overwrites only deleted ones (measured with 3.40.1). It lies between a page's
/// index of rows and its first row.
enum PageRemains {
  /// Beyond this number of pages, page numbers in other kinds of pages could look like a tree page.
  static let mostPages = 1 << 24
  /// The header field for pointer maps: one of its bytes is not 0 if there are any.
  static let pointerMapField = 52..<56
  /// The start of the page that SQLite locks and never writes.
  private static let lockedByte = 0x4000_0000

  /// Whether page `number`, from 1, is a pointer map, if there are any. It may begin like a tree page.
  static func isPointerMap(_ number: Int, pageSize: Int) -> Bool {
    guard number >= 2 else { return false }
    let span = pageSize / 5 + 1
    let map = 2 + (number - 2) / span * span
    return number == (map == lockedByte / pageSize + 1 ? map + 1 : map)
  }

  /// The range of the unused space in a page that is not a pointer map; nil if there is none, or if it is not a tree
  /// page.
  static func range(in page: UnsafeRawBufferPointer, isFirst: Bool) -> Range<Int>? {
    let header = isFirst ? 100 : 0
    func number(at offset: Int) -> Int { Int(page[offset]) << 8 | Int(page[offset + 1]) }
    let index: Int
    switch page[header] {
    case 2, 5: index = header + 12
    case 10, 13: index = header + 8
    default: return nil
    }
    let rows = number(at: header + 3)
    let first = number(at: header + 5) == 0 ? 65_536 : number(at: header + 5)
    let unused = index + 2 * rows
    guard unused < first, first <= page.count else { return nil }
    for row in 0..<rows where !(first..<page.count).contains(number(at: index + 2 * row)) { return nil }
    let gap = UnsafeRawBufferPointer(rebasing: page[unused..<first])
    guard let begin = gap.baseAddress else { return nil }
    if gap[0] == 0 && memcmp(begin, begin + 1, gap.count - 1) == 0 { return nil }
    return unused..<first
  }
}

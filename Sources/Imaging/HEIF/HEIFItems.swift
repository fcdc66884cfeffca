/// The items of a HEIF file: coded pictures, derived pictures and descriptions, with their properties, references and
/// data (ISO/IEC 14496-12 and 23008-12).
struct HEIFItems {
  struct Property {
    let name: String
    let contents: ByteReader
  }

  struct Item {
    let type: String
    let isHidden: Bool
    /// In the order in which they apply.
    fileprivate(set) var properties: [Property] = []
    /// The parts of its data; none if it has no data, or data that is not in this file.
    fileprivate(set) var data: [ByteReader] = []
    /// A part of the data lies beyond the end of the file.
    fileprivate(set) var isCut = false
    /// The data are parts of other items' data, which are not put together here.
    fileprivate(set) var isBorrowed = false

    fileprivate mutating func place(_ data: [ByteReader], isCut: Bool) { (self.data, self.isCut) = (data, isCut) }

    func property(_ name: String) -> ByteReader? { properties.first { $0.name == name }?.contents }

    /// The size before cropping and turning.
    var size: PixelSize? {
      guard let extent = property("ispe"), let width = extent.uint32(at: 4), let height = extent.uint32(at: 8) else {
        return nil
      }
      return PixelSize(width: width, height: height)
    }

    var bytes: [UInt8] { data.flatMap { $0.bytes[$0.range] } }
  }

  struct Reference {
    let kind: String
    let from: Int
    let to: [Int]
  }

  private(set) var primary: Int?
  private(set) var items: [Int: Item] = [:]
  private(set) var references: [Reference] = []

  /// Limits beyond real files; later entries are ignored.
  private static let entryLimit = 10_000
  private static let partLimit = 100_000

  /// - Parameters:
  ///   - meta: the contents of the box `meta`, after its version and flags.
  ///   - file: the whole file.
  init(meta: ByteReader, of file: ByteReader) {
    var boxes: [String: ByteReader] = [:]
    HEIFStructure.forEachBox(in: meta) { name, contents in
      if boxes[name] == nil { boxes[name] = contents }
    }
    if let box = boxes["pitm"] { primary = box.byte(at: 0) == 0 ? box.uint16(at: 4) : box.uint32(at: 4) }
    if let box = boxes["iinf"] { readEntries(box) }
    if let box = boxes["iprp"] { readProperties(box) }
    if let box = boxes["iref"] { readReferences(box) }
    if let box = boxes["iloc"] { readLocations(box, file: file, own: boxes["idat"]) }
  }

  /// The items that `item` refers to by this kind of reference.
  func targets(_ kind: String, of item: Int) -> [Int] {
    references.first { $0.kind == kind && $0.from == item }?.to ?? []
  }

  /// The items that refer to `item` by this kind of reference.
  func sources(_ kind: String, of item: Int) -> [Int] {
    references.filter { $0.kind == kind && $0.to.contains(item) }.map(\.from)
  }

  private mutating func readEntries(_ box: ByteReader) {
    HEIFStructure.forEachBox(in: box.dropFirst(box.byte(at: 0) == 0 ? 6 : 8)) { name, entry in
      guard name == "infe", let version = entry.byte(at: 0), version >= 2, let flags = entry.byte(at: 3) else { return }
      let width = version == 2 ? 2 : 4
      guard let number = entry.number(at: 4, length: width), let type = entry.name(at: 6 + width),
        items[number] == nil
      else { return }
      items[number] = Item(type: type, isHidden: flags & 1 != 0)
    }
  }

  private mutating func readProperties(_ box: ByteReader) {
    var properties: [Property] = []
    HEIFStructure.forEachBox(in: box) { name, contents in
      guard name == "ipco", properties.isEmpty else { return }
      HEIFStructure.forEachBox(in: contents) { properties.append(Property(name: $0, contents: $1)) }
    }
    HEIFStructure.forEachBox(in: box) { name, contents in
      if name == "ipma" { associate(properties, contents) }
    }
  }

  private mutating func associate(_ properties: [Property], _ box: ByteReader) {
    guard let version = box.byte(at: 0), let flags = box.byte(at: 3), let count = box.uint32(at: 4) else { return }
    let (itemWidth, indexWidth) = (version == 0 ? 2 : 4, flags & 1 == 0 ? 1 : 2)
    var offset = 8
    for _ in 0..<min(count, Self.entryLimit) {
      guard let item = box.number(at: offset, length: itemWidth), let own = box.byte(at: offset + itemWidth) else {
        return
      }
      offset += itemWidth + 1
      var found: [Property] = []
      for index in 0..<Int(own) {
        guard let value = box.number(at: offset + index * indexWidth, length: indexWidth) else { return }
        // The highest bit tells that a reader has to know the property.
        let number = value & (indexWidth == 1 ? 0x7F : 0x7FFF)
        if properties.indices.contains(number - 1) { found.append(properties[number - 1]) }
      }
      offset += Int(own) * indexWidth
      if items[item]?.properties.isEmpty == true { items[item]?.properties = found }
    }
  }

  private mutating func readReferences(_ box: ByteReader) {
    let width = box.byte(at: 0) == 0 ? 2 : 4
    var parts = 0
    HEIFStructure.forEachBox(in: box.dropFirst(4)) { kind, contents in
      guard let from = contents.number(at: 0, length: width), let count = contents.uint16(at: width) else { return }
      var targets: [Int] = []
      for index in 0..<count where parts < Self.partLimit {
        guard let target = contents.number(at: width + 2 + index * width, length: width) else { break }
        targets.append(target)
        parts += 1
      }
      references.append(Reference(kind: kind, from: from, to: targets))
    }
  }

  private mutating func readLocations(_ box: ByteReader, file: ByteReader, own: ByteReader?) {
    guard let version = box.byte(at: 0), let sizes = box.byte(at: 4), let more = box.byte(at: 5) else { return }
    let (placeWidth, lengthWidth, baseWidth) = (Int(sizes >> 4), Int(sizes & 15), Int(more >> 4))
    let indexWidth = version == 0 ? 0 : Int(more & 15)
    let numberWidth = version < 2 ? 2 : 4
    guard let count = box.number(at: 6, length: numberWidth) else { return }
    var offset = 6 + numberWidth
    var parts = 0
    for _ in 0..<min(count, Self.entryLimit) {
      guard let item = box.number(at: offset, length: numberWidth) else { return }
      offset += numberWidth
      var kind = 0
      if version > 0 {
        kind = (box.uint16(at: offset) ?? 0) & 15
        offset += 2
      }
      guard let base = box.number(at: offset + 2, length: baseWidth),
        let extents = box.uint16(at: offset + 2 + baseWidth)
      else { return }
      offset += 4 + baseWidth
      let container = kind == 0 ? file : kind == 1 ? own : nil
      var data: [ByteReader] = []
      var isCut = false
      for _ in 0..<extents {
        parts += 1
        guard parts < Self.partLimit, let place = box.number(at: offset + indexWidth, length: placeWidth),
          let length = box.number(at: offset + indexWidth + placeWidth, length: lengthWidth)
        else { return }
        offset += indexWidth + placeWidth + lengthWidth
        guard let container else { continue }
        let isInside = place <= container.count && base <= container.count - place
        // A length of zero means the rest.
        let part = container.part(
          at: isInside ? base + place : container.count, count: length == 0 ? container.count : length)
        isCut = isCut || part.count < max(1, length)
        data.append(part)
      }
      // Parts that overlap could be any number of times as long as the file.
      guard items[item]?.data.isEmpty == true, data.reduce(0, { $0 + $1.count }) <= file.count else { continue }
      items[item]?.isBorrowed = kind == 2
      items[item]?.place(data, isCut: isCut)
    }
  }
}

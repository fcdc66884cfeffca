import Messages

/// The picture of a HEIF file that is shown, and how it is made of coded ones.
struct HEIFPlan {
  /// The item of the picture.
  let item: Int
  /// nil if libheif decodes, converts, crops and turns the picture.
  let layout: HEIFLayout?
  let alpha: HEIFLayout?
  let isPremultiplied: Bool
  let window: HEIFWindow
  /// The numbers of H.273 that the picture or its first tile has.
  let colors: ByteReader?

  /// nil if there is no primary picture with a size.
  init?(of items: HEIFItems, name: String) throws(DeliveryError) {
    guard var item = items.primary, items.items[item] != nil else { return nil }
    // Nobody wants the thumbnail that a file names as its picture.
    if let whole = items.targets("thmb", of: item).first, items.items[whole] != nil { item = whole }
    var chain = [item]
    // A picture that is the same as another one, but for its properties.
    while let number = chain.last, items.items[number]?.type == "iden", chain.count < 8,
      let source = items.targets("dimg", of: number).first, items.items[source] != nil
    {
      chain.append(source)
    }
    guard let last = chain.last, let source = items.items[last] else { return nil }
    try Self.check(source, number: last, in: items, name: name)
    guard let size = source.size else { return nil }
    var window = HEIFWindow(size)
    // Those of the coded picture come first.
    for property in chain.reversed().flatMap({ items.items[$0]?.properties ?? [] }) {
      guard window.apply(property) else { throw .damaged(name, "it is cropped to nothing") }
    }
    self.window = window
    self.item = item
    let layout = HEIFLayout(of: last, in: items)
    colors = chain.lazy.compactMap { items.items[$0]?.numbers }.first ?? layout?.tiles.first?.numbers
    let alphas = chain.flatMap { items.sources("auxl", of: $0) }.filter { items.items[$0]?.isAlpha == true }
    isPremultiplied = chain.contains { number in items.targets("prem", of: number).contains { alphas.contains($0) } }
    alpha = alphas.first.flatMap { HEIFLayout(of: $0, in: items) }
    // Alpha of other tiles is libheif's work.
    let matches = alphas.isEmpty || alpha.map { layout?.size == $0.size && layout?.tile == $0.tile } ?? false
    self.layout = matches ? layout : nil
  }

  private static func check(
    _ item: HEIFItems.Item, number: Int, in items: HEIFItems, name: String
  ) throws(DeliveryError) {
    guard ["hvc1", "av01", "grid", "iovl"].contains(item.type) else {
      throw .notDecoded(name, "its picture is of the kind \(plain(item.type))")
    }
    guard items.targets("pred", of: number).isEmpty else {
      throw .notDecoded(name, "its picture is predicted from another one")
    }
  }

  /// A name from the file, which may hold anything.
  private static func plain(_ type: String) -> String {
    type.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0) }
      ? type : "no known name"
  }
}

extension HEIFItems.Item {
  fileprivate static let alphaNames: [StaticString] = [
    "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
  ]

  var isAlpha: Bool {
    guard let name = property("auxC")?.dropFirst(4) else { return false }
    return Self.alphaNames.contains { name.begins(with: $0) }
  }

  /// The first colours of numbers, after their name.
  var numbers: ByteReader? {
    properties.first { $0.name == "colr" && $0.contents.begins(with: "nclx") }?.contents.dropFirst(4)
  }

  /// The first embedded colour profile.
  var profile: ByteReader? {
    properties.first { $0.name == "colr" && ($0.contents.begins(with: "prof") || $0.contents.begins(with: "rICC")) }?
      .contents.dropFirst(4)
  }

  static let pictures: Set<String> = ["hvc1", "av01", "grid", "iden", "iovl"]
}

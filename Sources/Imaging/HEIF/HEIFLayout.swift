/// The coded pictures that an item's picture consists of: one, or the tiles of a grid, row by row.
struct HEIFLayout {
  /// The size before cropping and turning.
  let size: PixelSize
  let tile: PixelSize
  let columns: Int
  let tiles: [HEIFItems.Item]
  let format: CodedFormat

  var rows: Int { tiles.count / columns }

  /// nil for overlays, and for grids of different tiles: libheif puts these together.
  init?(of number: Int, in items: HEIFItems) {
    guard let item = items.items[number], let size = item.size else { return nil }
    self.size = size
    if let format = CodedFormat(of: item) {
      (tile, columns, tiles, self.format) = (size, 1, [item], format)
      return
    }
    guard item.type == "grid", let grid = Grid(item.bytes), grid.size == size else { return nil }
    let tiles = items.targets("dimg", of: number).compactMap { items.items[$0] }
    guard tiles.count == grid.columns * grid.rows, let first = tiles.first, let tile = first.size,
      let format = CodedFormat(of: first),
      tiles.allSatisfy({ $0.size == tile && CodedFormat(of: $0) == format })
    else { return nil }
    // The last column and row may be partly outside; a sample of colour does not cross tiles.
    let covers = tile.width * grid.columns >= size.width && tile.height * grid.rows >= size.height
    let isTight = tile.width * (grid.columns - 1) < size.width && tile.height * (grid.rows - 1) < size.height
    guard covers, isTight, format.sharing.map({ tile.width % $0.width == 0 && tile.height % $0.height == 0 }) ?? true
    else { return nil }
    (self.tile, columns, self.tiles, self.format) = (tile, grid.columns, tiles, format)
  }

  /// The memory for a row of tiles while they are decoded.
  var bytes: Int { columns * format.bytes(of: tile) }

  /// The numbers of a grid item.
  private struct Grid {
    let columns: Int
    let rows: Int
    let size: PixelSize

    init?(_ data: [UInt8]) {
      let reader = ByteReader(data, data.indices)
      guard let flags = reader.byte(at: 1), let rows = reader.byte(at: 2), let columns = reader.byte(at: 3) else {
        return nil
      }
      let length = flags & 1 == 0 ? 2 : 4
      guard let width = reader.number(at: 4, length: length), let height = reader.number(at: 4 + length, length: length)
      else { return nil }
      (self.columns, self.rows) = (Int(columns) + 1, Int(rows) + 1)
      size = PixelSize(width: width, height: height)
    }
  }
}

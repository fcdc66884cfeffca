import Foundation

/// The manifest of the page (W3C Web Application Manifest), by which a phone installs it and shares photos with it.
struct WebManifest: Encodable {
  private struct Icon: Encodable {
    let src: String
    let sizes: String
    let type: String
    let purpose: String
  }

  private struct ShareTarget: Encodable {
    struct Parameters: Encodable {
      let title = "title"
      let text = "text"
      let url = "url"
      let files = [Files()]
    }

    struct Files: Encodable {
      let name = "photo"
      let accept = ["image/*"]
    }

    let action = "/share"
    let method = "POST"
    let enctype = "multipart/form-data"
    let params = Parameters()
  }

  private let name = "photospool"
  private let shortName = "photospool"
  private let id = "/"
  private let startUrl = "/"
  private let scope = "/"
  private let display = "standalone"
  private let backgroundColor = "#fdfcfa"
  private let themeColor = "#fbfaf8"
  private let icons: [Icon]
  private let shareTarget = ShareTarget()

  init(icon: String, small: String, large: String) {
    icons = [
      Icon(src: icon, sizes: "any", type: "image/svg+xml", purpose: "any"),
      Icon(src: small, sizes: "192x192", type: "image/png", purpose: "any"),
      Icon(src: large, sizes: "512x512", type: "image/png", purpose: "any"),
      Icon(src: large, sizes: "512x512", type: "image/png", purpose: "maskable"),
    ]
  }

  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

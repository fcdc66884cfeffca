import CGIF
import CHEIF
import CJPEG
import CLittleCMS
import CWebP

extension Preparer {
  /// The decoding libraries with their versions.
  package static var libraries: String {
    let webp = WebPGetDecoderVersion()
    let colors = cmsGetEncodedCMMversion()
    return [
      "libjpeg-turbo \(String(cString: cjpeg_version()))",
      "libheif \(String(cString: heif_get_version()))", "libwebp \(webp >> 16).\(webp >> 8 & 255).\(webp & 255)",
      "giflib \(GIFLIB_MAJOR).\(GIFLIB_MINOR).\(GIFLIB_RELEASE)",
      "Little CMS \(colors / 1000).\(colors % 1000 / 10)",
    ].joined(separator: ", ")
  }

  /// Loads what the libraries need, while the process may still read files.
  package static func loadLibraries() { HEIFLibrary.prepare() }
}

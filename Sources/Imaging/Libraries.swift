import CDE265
import CDav1d
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
      "libheif \(String(cString: heif_get_version()))", "libde265 \(String(cString: de265_get_version()))",
      "dav1d \(String(cString: dav1d_version()))", "libwebp \(webp >> 16).\(webp >> 8 & 255).\(webp & 255)",
      "Little CMS \(colors / 1000).\(colors % 1000 / 10)",
    ].joined(separator: ", ")
  }

  /// Loads what the libraries need, while the process may still read files.
  package static func loadLibraries() { HEIFLibrary.prepare() }
}

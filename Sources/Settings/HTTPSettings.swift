/// How stores and networks that speak HTTP reach others.
public struct HTTPSettings: Sendable, Equatable {
  /// The PEM file with the authorities whose certificates are believed; nil is the system's.
  public internal(set) var authorityFile: String?
  /// The URL of a proxy; nil is none, whatever the environment says.
  public internal(set) var proxy: String?
  /// From looking up the name until the connection is there.
  public internal(set) var connect = Duration.seconds(30)
  /// Without a byte in either direction.
  public internal(set) var stall = Duration.seconds(60)
  /// From the beginning to the end; nil is without end.
  public internal(set) var total: Duration?
}

import CNATS

/// Why there is no connection.
struct ConnectFault: Error {
  /// Whether somebody has to fix it; otherwise a later attempt may succeed.
  let isLasting: Bool
  let sentence: String

  init(_ result: cnats_result, _ sentence: String) {
    switch result {
    case CNATS_NO_LIBRARY:
      isLasting = true
      self.sentence = sentence
    case CNATS_DENIED:
      isLasting = true
      self.sentence = "the servers of the cluster refuse the token; check `cluster.token`"
    case CNATS_INSECURE:
      isLasting = true
      self.sentence =
        "no server of the cluster has a valid certificate (\(sentence)); check it, and the names in `cluster.servers`"
    default:
      isLasting = false
      self.sentence =
        "no server of the cluster can be reached (\(sentence)); check `cluster.servers` and whether they run"
    }
  }
}

import CNATS
import Clusters

extension QueueError {
  /// Why there is no connection: lasting if somebody has to fix it.
  init(_ result: cnats_result, _ sentence: String) {
    switch result {
    case CNATS_NO_LIBRARY: self = .refused(sentence)
    case CNATS_DENIED: self = .refused("the servers of the cluster refuse the token; check `cluster.token`")
    case CNATS_INSECURE:
      self = .refused(
        "no server of the cluster has a valid certificate (\(sentence)); check it, and the names in `cluster.servers`")
    default:
      self = .unavailable(
        "no server of the cluster can be reached (\(sentence)); check `cluster.servers` and whether they run")
    }
  }
}

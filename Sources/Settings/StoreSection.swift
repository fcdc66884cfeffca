extension Settings {
  /// `store`, or a section of `stores`, as it is written: the settings of every type side by side.
  struct Store: SettingsSection {
    var type = Kind.directory
    var directory: String?
    var url: String?
    var endpoint: String?
    var region = "us-east-1"
    var bucket: String?
    var addressing = StoreSettings.Addressing.path
    var naming = "{digest}"
    var accessKeyFile: String?
    var accessKeyVariable: String?
    var secretKeyFile: String?
    var secretKeyVariable: String?
    var sessionTokenFile: String?
    var sessionTokenVariable: String?
    var tokenFile: String?
    var tokenVariable: String?
    var homeserver: String?

    enum Kind: String, CaseIterable, Sendable { case directory, s3, presigned, matrix }

    static let rows: [Setting<Store>] = [
      Setting("type", \.type, .word, "Where uploaded photos go"),
      Setting(
        "directory", \.directory, .optional(.directory), for: "directory",
        help: "Where the directory store keeps its objects; empty is objects/ in the spool"),
      Setting(
        "url", \.url, .optional(.baseURL), for: "directory", "s3",
        help: "The URL under which others find the objects; empty is the directory's or bucket's own"),
      Setting(
        "endpoint", \.endpoint, .optional(.webURL("https://s3.example.org")), for: "s3", "presigned",
        help: "The URL of the S3 service, or the one that answers with upload URLs"),
      Setting("region", \.region, .region, for: "s3", help: "The region that the S3 service is in"),
      Setting("bucket", \.bucket, .optional(.bucket), for: "s3", help: "The bucket"),
      Setting("addressing", \.addressing, .word, for: "s3", help: "Where the bucket stands in the URL"),
      Setting("naming", \.naming, .objectName, for: "s3", help: "How objects are named"),
      Setting(
        "accessKeyFile", \.accessKeyFile, .optional(.file), for: "s3", help: "The file with the id of the access key"),
      Setting(
        "accessKeyVariable", \.accessKeyVariable, .optional(.variable), for: "s3",
        help: "The environment variable with the id of the access key"),
      Setting("secretKeyFile", \.secretKeyFile, .optional(.file), for: "s3", help: "The file with the secret key"),
      Setting(
        "secretKeyVariable", \.secretKeyVariable, .optional(.variable), for: "s3",
        help: "The environment variable with the secret key"),
      Setting(
        "sessionTokenFile", \.sessionTokenFile, .optional(.file), for: "s3",
        help: "The file with the session token of passing keys"),
      Setting(
        "sessionTokenVariable", \.sessionTokenVariable, .optional(.variable), for: "s3",
        help: "The environment variable with the session token of passing keys"),
      Setting(
        "tokenFile", \.tokenFile, .optional(.file), for: "presigned", "matrix",
        help: "The file with the access token"),
      Setting(
        "tokenVariable", \.tokenVariable, .optional(.variable), for: "presigned", "matrix",
        help: "The environment variable with the access token"),
      Setting(
        "homeserver", \.homeserver, .optional(.webURL("https://matrix.example.org")), for: "matrix",
        help: "The URL of the Matrix homeserver that keeps the photos"),
    ]
  }
}

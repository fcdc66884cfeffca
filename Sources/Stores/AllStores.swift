/// All types of store. To add one, write a folder beside this file and add its type to the list.
package enum AllStores {
  /// The first is the default type of the standard store.
  package static let types: [any StoreType.Type] = [
    DirectoryStoreType.self, S3StoreType.self, PresignedStoreType.self, MatrixStoreType.self,
    GCSStoreType.self,
  ]
}

import CCurl
import Glibc

// libcurl's callbacks for a transfer.

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
  context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

let sendBody: curl_read_callback = { buffer, size, count, context in
  transfer(context)?.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count)) ?? 0
}

let seekBody: curl_seek_callback = { context, offset, origin in
  guard origin == SEEK_SET, transfer(context)?.seek(to: Int(offset)) == true else { return CURL_SEEKFUNC_FAIL }
  return CURL_SEEKFUNC_OK
}

/// libcurl takes any other count than its own as an error.
let receiveHead: curl_write_callback = { buffer, size, count, context in
  transfer(context)?.head(UnsafeRawBufferPointer(start: buffer, count: size * count)) == true ? size * count : -1
}

let receiveBody: curl_write_callback = { buffer, size, count, context in
  transfer(context)?.receive(UnsafeRawBufferPointer(start: buffer, count: size * count)) == true ? size * count : -1
}

let openSocket: curl_opensocket_callback = { context, _, address in
  guard let address, let transfer = transfer(context), let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr)
  else { return CURL_SOCKET_BAD }
  // The address is longer than the member that stands for it.
  let pointer = UnsafeRawPointer(address).advanced(by: offset).assumingMemoryBound(to: sockaddr.self)
  return transfer.socket(for: address.pointee, at: pointer)
}

let checkConnection: curl_prereq_callback = { context, address, _, _, _ in
  transfer(context)?.mayUseConnection(to: address) == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

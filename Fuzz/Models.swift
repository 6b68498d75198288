// Any object is a model or a typed error. A model that is written and read again is equal, and the
// router accepts every object that was read.

import ParleyDialectModels
import ParleyJSON

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let fields = JSONFields(UnsafeBufferPointer(start: start, count: count)) else { return 0 }
  guard JSONFields(fields.json) == fields else { fatalError("fields differ when written") }
  let router = DomainRouter()
  check(Twake.Account.self, fields)
  check(Twake.Message.self, fields)
  check(Twake.Badge.self, fields)
  check(Twake.LocalNotification.self, fields)
  check(Twake.SocketIORoom.self, fields)
  if let channel = check(Twake.Channel.self, fields) { _ = channel.hash }
  if let event = check(Twake.SocketIOEvent.self, fields) { _ = router.route(event) }
  if let resource = check(Twake.SocketIOResource.self, fields) { _ = router.route(resource) }
  check(GroupChat.Group.self, fields)
  check(GroupChat.Line.self, fields)
  if let push = check(GroupChat.Push.self, fields) { _ = router.route(push, on: "/user/1") }
  if let event = check(GroupChat.SystemEvent.self, fields),
    let change = GroupChat.Change(event)
  {
    guard GroupChat.Change(change.event) == change else { fatalError("a change differs") }
    _ = change.prose
  }
  return 0
}

@discardableResult
private func check<Model: JSONModel>(_: Model.Type, _ fields: JSONFields) -> Model? {
  guard let model = try? Model(fields) else { return nil }
  // The first write may reorder fields, as the model's own fields come first.
  guard let again = try? Model(model.fields), let third = try? Model(again.fields), again == third
  else { fatalError("\(Model.self) differs when written") }
  return model
}

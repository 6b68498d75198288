import ParleyDialectModels

func title(of json: [UInt8]) throws -> String {
  let channel = try Twake.Channel(json: json)
  return channel.hasUnread ? channel.name + " •" : channel.name
}

import ParleyDialectModels

func event(of json: [UInt8]) throws -> DomainEvent {
  let router = DomainRouter()
  return router.route(try Twake.SocketIOResource(json: json))
}

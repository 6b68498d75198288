import GatewayPorts
import Testing
import TransportLibwebsockets

@Suite("Handshakes")
struct HandshakeTests {
  @Test func `a client without a subprotocol gets none`() throws {
    let server = try TestServer()
    defer { server.stop() }
    let client = try TestClient(port: server.port)
    let answer = try client.handshake("/socket")
    #expect(answer.status == 101)
    #expect(answer.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(answer.headers["sec-websocket-protocol"] == nil)
    try client.sendText("hello")
    #expect(try client.receive() == .init(opcode: 1, payload: Array("hello".utf8)))
  }
}

import ParleyDialectModels
import ParleyTwakeCubits

@MainActor func follow(
  _ messages: MessagesCubit, _ authentication: AuthenticationCubit, _ globals: Globals
) async throws -> TwakeSocket {
  let socket = TwakeSocket("https://chat.example.org", globals: globals) {
    try await authentication.freshToken()
  }
  Task { await messages.listen(to: socket.events) }
  socket.start()
  try await socket.join("previous::channels/general/messages/updates")
  return socket
}

import ParleyDialectModels
import ParleyTwakeCubits

@MainActor func open(_ server: any MessagesSource, _ globals: Globals) async throws -> MessagesCubit
{
  let messages = MessagesCubit(server, globals: globals) { 0 }
  try await messages.fetch(channelID: "general")
  try await messages.send("Hello")
  return messages
}

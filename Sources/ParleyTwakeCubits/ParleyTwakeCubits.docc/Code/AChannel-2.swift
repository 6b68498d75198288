import ParleyDialectModels
import ParleyTwakeCubits

@MainActor func show(_ messages: MessagesCubit) async {
  for await state in messages.states {
    if case .loaded(let shown) = state {
      for message in shown.messages { print(message.sender, message.content.originalText ?? "") }
    }
  }
}

package import ParleyMail

/// A language of the server's messages; the languages of the page.
package enum MailLanguage: String, Sendable, CaseIterable {
  case arabic = "ar"
  case german = "de"
  case english = "en"
  case spanish = "es"
  case french = "fr"
  case japanese = "ja"

  /// Returns the first language of an `Accept-Language` header that messages are written in, by the
  /// client's order of preference; English if there is none.
  package init(accepted: String) {
    var best: (language: MailLanguage, weight: Double)?
    for item in accepted.prefix(1_000).split(separator: ",").prefix(50) {
      let words = item.split(separator: ";").map { $0.filter { $0 != " " } }
      guard let name = words.first?.split(separator: "-").first,
        let language = MailLanguage(rawValue: name.lowercased())
      else { continue }
      let weight = words.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      if (weight ?? 1) > (best?.weight ?? 0) { best = (language, weight ?? 1) }
    }
    self = best?.language ?? .english
  }

  var isRightToLeft: Bool { self == .arabic }
}

/// The texts of messages, in each language.
package enum MailText: Sendable, Equatable {
  /// A message by which an operator tries the settings.
  case test
  /// An invitation with its link.
  case invitation(link: String)
  /// A link for a new password.
  case reset(link: String)

  /// Returns the message of this text.
  ///
  /// - Parameter id: Unique for each message.
  package func message(
    from: MailAddress, to: MailAddress, in language: MailLanguage, id: String, milliseconds: Int64
  ) -> MailMessage {
    let (subject, paragraphs) = words(in: language)
    let texts = MailParagraphs(paragraphs)
    return MailMessage(
      from: from, to: to, subject: subject, text: texts.text,
      html: texts.html(
        language: language.rawValue, isRightToLeft: language.isRightToLeft), id: id,
      milliseconds: milliseconds, language: language.rawValue)
  }

  private func words(
    in language: MailLanguage
  ) -> (subject: String, paragraphs: [MailParagraphs.Paragraph]) {
    switch self {
    case .test:
      let (subject, text) = Self.test(in: language)
      return (subject, [.text(text)])
    case .invitation(let link):
      let words = Self.invitation(in: language)
      return (
        words.subject, [.text(words.text), .link(url: link, words: words.link), .text(words.end)]
      )
    case .reset(let link):
      let words = Self.reset(in: language)
      return (
        words.subject, [.text(words.text), .link(url: link, words: words.link), .text(words.end)]
      )
    }
  }

  private typealias Words = (subject: String, text: String, link: String, end: String)

  private static func test(in language: MailLanguage) -> (subject: String, text: String) {
    switch language {
    case .arabic:
      ("رسالة تجريبية من Parley", "وصلت هذه الرسالة، فإعدادات البريد في خادم Parley صحيحة.")
    case .german:
      (
        "Testnachricht von Parley",
        "Diese Nachricht ist angekommen: Die Mail-Einstellungen des Parley-Servers stimmen."
      )
    case .english:
      (
        "Test message from Parley",
        "This message has arrived: the mail settings of the Parley server work."
      )
    case .spanish:
      (
        "Mensaje de prueba de Parley",
        "Este mensaje ha llegado: la configuración de correo del servidor Parley funciona."
      )
    case .french:
      (
        "Message d’essai de Parley",
        "Ce message est arrivé : les réglages de messagerie du serveur Parley fonctionnent."
      )
    case .japanese: ("Parley からのテストメール", "このメールが届いたので、Parley サーバーのメール設定は正しく動作しています。")
    }
  }

  private static func invitation(in language: MailLanguage) -> Words {
    switch language {
    case .arabic:
      (
        "دعوة إلى Parley", "دُعيت إلى الكتابة في ملاحظات مشتركة. افتح الرابط واختر اسمًا وكلمة مرور.",
        "قبول الدعوة", "هذا الرابط لك وحدك، وتنتهي صلاحيته. إن لم تكن تتوقع هذه الرسالة فتجاهلها."
      )
    case .german:
      (
        "Einladung zu Parley",
        "Sie sind eingeladen, an gemeinsamen Notizen zu schreiben. Öffnen Sie den Link, und wählen Sie einen Namen und ein Passwort.",
        "Einladung annehmen",
        "Der Link ist nur für Sie und läuft ab. Wenn Sie diese Nachricht nicht erwartet haben, ignorieren Sie sie."
      )
    case .english:
      (
        "Invitation to Parley",
        "You are invited to write shared notes. Open the link, and choose a name and a password.",
        "Accept the invitation",
        "The link is for you alone, and expires. If you did not expect this message, ignore it."
      )
    case .spanish:
      (
        "Invitación a Parley",
        "Te han invitado a escribir notas compartidas. Abre el enlace y elige un nombre y una contraseña.",
        "Aceptar la invitación",
        "El enlace es solo para ti y caduca. Si no esperabas este mensaje, ignóralo."
      )
    case .french:
      (
        "Invitation à Parley",
        "Vous êtes invité à écrire des notes partagées. Ouvrez le lien, puis choisissez un nom et un mot de passe.",
        "Accepter l’invitation",
        "Ce lien n’est que pour vous, et il expire. Si vous n’attendiez pas ce message, ignorez-le."
      )
    case .japanese:
      (
        "Parley への招待", "共有ノートに招待されました。リンクを開き、名前とパスワードを決めてください。", "招待を受ける",
        "このリンクはあなた専用で、期限があります。心当たりがない場合は、このメールを無視してください。"
      )
    }
  }

  private static func reset(in language: MailLanguage) -> Words {
    switch language {
    case .arabic:
      (
        "كلمة مرور جديدة لـ Parley",
        "طلب أحدهم كلمة مرور جديدة لحسابك. افتح الرابط خلال ساعة لتختارها.",
        "اختيار كلمة مرور جديدة", "إن لم تطلب ذلك فتجاهل هذه الرسالة: تبقى كلمة مرورك كما هي."
      )
    case .german:
      (
        "Neues Passwort für Parley",
        "Für Ihr Konto wurde ein neues Passwort angefordert. Öffnen Sie innerhalb einer Stunde den Link, um es zu wählen.",
        "Neues Passwort wählen",
        "Wenn Sie das nicht waren, ignorieren Sie diese Nachricht: Ihr Passwort bleibt, wie es ist."
      )
    case .english:
      (
        "New password for Parley",
        "A new password was requested for your account. Open the link within an hour to choose one.",
        "Choose a new password",
        "If you did not request it, ignore this message: your password stays as it is."
      )
    case .spanish:
      (
        "Nueva contraseña para Parley",
        "Se ha solicitado una nueva contraseña para tu cuenta. Abre el enlace antes de una hora para elegirla.",
        "Elegir una contraseña nueva",
        "Si no la has solicitado, ignora este mensaje: tu contraseña no cambia."
      )
    case .french:
      (
        "Nouveau mot de passe pour Parley",
        "Un nouveau mot de passe a été demandé pour votre compte. Ouvrez le lien dans l’heure pour le choisir.",
        "Choisir un nouveau mot de passe",
        "Si vous ne l’avez pas demandé, ignorez ce message : votre mot de passe ne change pas."
      )
    case .japanese:
      (
        "Parley の新しいパスワード", "アカウントの新しいパスワードが要求されました。1 時間以内にリンクを開いて、新しいパスワードを決めてください。",
        "新しいパスワードを決める", "心当たりがない場合は、このメールを無視してください。パスワードは変わりません。"
      )
    }
  }
}

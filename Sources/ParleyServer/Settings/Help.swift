/// The texts of `--help`.
package enum Help {
  /// `parley --help`.
  package static let program = """
    Parley \(Version.current): notes that several people write at once, on your own machine.

    Usage: parley COMMAND [FLAGS]

    Commands:
      setup    Ask five questions, and write a configuration for a team
      serve    Run the gateway: page, notes and WebSockets on one port
      check    Say what a configuration means and whether its store is sound, then exit
      doctor   Look whether this machine is fit to run it: files, TLS, disk, clock …
      health   Ask the running server whether it takes changes
      backup   Copy the store, while a server may be running
      restore  Put a backup in the store's place
      migrate  Move everything from a file to a database, or back
      notes    List the notes with their ids
      search   Find notes by the words in them
      reindex  Make the index of words anew
      undelete Bring a deleted note back
      webhooks List the events that nobody took and that were given up
      export   Write a note as Markdown, text, JSON or with its whole log
      import   Turn a file into a note
      compact  Forget history that the retention settings need not keep
      token    Make a token that says who may do what, or look into one
      revoke   Take tokens back before their time
      user     Add, list and remove users who log in with a password, or set a password
      group    Give groups of users rights, such as to a folder
      invite   Make, list and withdraw invitations to become a user
      apikey   Make a key with which a program may publish, read or write over HTTP
      note     Read, follow and edit a note on a running server, in a terminal or a script
      share    Make a link that opens a note of a running server, or end all of a note's links

    parley COMMAND --help lists the flags of a command; parley serve --help-all lists all settings.
    parley --version prints the version.

    """

  /// `parley serve --help`: the settings that most people need.
  package static var serve: String {
    """
    Usage: parley serve [FLAGS]

    Runs the gateway until SIGTERM or SIGINT; a second signal ends it at once.

    """ + flags { common.contains($0.name) } + """

      parley serve --help-all lists all \(Configuration.settings.count) settings.
      """ + "\n" + serveTail
  }

  /// `parley serve --help-all`.
  package static var serveAll: String {
    """
    Usage: parley serve [FLAGS]

    Runs the gateway until SIGTERM or SIGINT; a second signal ends it at once.

    """ + flags { _ in true } + serveTail
  }

  /// The settings that `parley serve --help` lists.
  package static let common: Set<String> = [
    "host", "port", "allow-open-network", "trusted-proxy", "tls-certificate", "tls-key", "auth-key",
    "users-file", "api-key-file", "data-dir", "deleted-age-max", "log-level",
  ]

  private static let serveTail = """

    Every flag is also a variable and a line of the file: --ping-interval 10s is the same as
    PARLEY_PING_INTERVAL=10s and as “ping-interval = 10s”. A flag wins over the environment,
    the environment over the file, the file over the default.

    Exit codes: 0 stopped when asked to, 1 could not start or go on, 2 flags or configuration
    are wrong.

    """

  /// `parley setup --help`.
  package static let setup = """
    Usage: parley setup [FLAGS]

    Asks five questions, looks whether the answers can be right, writes a configuration file and
    the first user, checks them as parley check does, and says what to do next. Nothing is written
    before all is answered; Ctrl-C leaves everything as it was. Each answer may be a flag:

      --host-name NAME        1. the name by which browsers reach it [localhost]
      --reach WAY             2. tls (with certificate files), proxy (one on this machine encrypts)
                              or local (only this machine connects, unencrypted) [local]
      --tls-certificate FILE  with tls: the certificate, its chain behind it
      --tls-key FILE          with tls: its private key
      --access WHO            3. users (with passwords), tokens (that another system signs) or
                              anyone (with local only) [users]
      --auth-key FILE         with tokens: the public key that checks them
      --user USER             4. with users: the first one, who may do everything; the password is
                              typed unseen, or is the first line of standard input
      --name NAME             what others see of the first user [USER]
      --data-dir FOLDER       5. for notes, users and all else [data, or /var/lib/parley]
      --port PORT             the port to listen on [443 with tls, or else 8080]
      --config FILE           the file to write [parley.conf, or /etc/parley/parley.conf]
      --replace               a file that is there is kept as FILE.old, and written anew; without
                              it, the person is asked, and a script stops
      --non-interactive       ask nothing: what no flag says has its default, or is an error. So
                              it is, too, where standard input is no terminal

    A user who is there already keeps the password.

      Exit codes: 0 all is written, 1 something is in the way, 2 the answers are wrong or
      incomplete.

    """

  /// `parley token --help`.
  package static let token = """
    Usage: parley token make --user ID (--key FILE | --secret FILE) [FLAGS]
           parley token inspect (TOKEN | -) [FLAGS OF SERVE]

    make prints a JSON Web Token:
      --user ID             whom it is for (sub)
      --name NAME           what others see
      --document MATCH=MAY  what its bearer may do with notes: MATCH is an id, or the beginning of
                            ids and *; MAY is some of read,write,publish,presence,manage, or all.
                            Repeat for more.
      --room MATCH=MAY      the same for rooms
      --folder MATCH=MAY    the same for the notes of a folder such as team, or team/* for it and all
                            below
      --expires-in TIME     500s, 20m, 1h …, or never [1h]
      --key FILE            signs with a PEM private key: RSA, P-256 or Ed25519
      --secret FILE         signs with a shared secret (HS256)
      --kid NAME            the key's name
      --audience NAME, --issuer NAME, --id NAME
      --profile NAME        in the form of an issuer-profile of the configuration, signed with its
                            secret unless --key or --secret is given; rights only if some are given
      --config FILE         where that profile is found

    inspect prints header and claims, and with the keys of a configuration (--config,
    --auth-key …) says whether the server would accept the token, and by which issuer profile. “-”
    reads it from standard input, where no list of processes shows it.

      Exit codes: 0 all is well, 1 the token or the key is not, 2 flags are wrong.

    """

  /// `parley revoke --help`.
  package static let revoke = """
    Usage: parley revoke (--user ID | --token ID) … [FLAGS OF SERVE]

    Takes back all tokens that a user was issued up to now, or the one token with this id (jti).
    It is written into the data folder (--data-dir, --config). A server that runs there closes the
    connections concerned within two seconds, and none of these tokens opens anything again.

      Exit codes: 0 all is well, 1 the file cannot be written, 2 flags are wrong.

    """

  /// `parley user --help`.
  package static let user = """
    Usage: parley user add USER [--name NAME] [MATCH=MAY …] [group:GROUP …] [WHERE]
           parley user list [--json] [WHERE]
           parley user passwd USER [WHERE]
           parley user sessions USER [--json] [FLAGS OF SERVE]
           parley user remove USER [WHERE]

    Users log in with a password. They stand in a file, the users-file of the settings, in which a
    running server sees each change within a second, or at once on SIGHUP.

    add reads a password and adds the user; without a file it prints the line for one. passwd sets
    another password; remove takes the user away. Both end all sessions of the user: what the
    server has confirmed stays, and what was not sent yet stays in the user's browser.

    sessions lists where a user is signed in, by a password or at a provider: the session's id, when
    it was last used and begun, and the browser or program. parley revoke --token ID ends one,
    parley revoke --user USER all of them.

    A password is typed unseen at a terminal, or is the first line of standard input. Only a hash
    of it is written.

      USER             what they log in with, such as ada@example.org
      --name NAME      what others see [USER]
      document:MATCH=MAY, folder:MATCH=MAY, room:MATCH=MAY
                       what they may do; see parley apikey --help and parley group --help
      group:GROUP      a group whose rights they have, too; see parley group --help
      --json           list as one JSON object

    WHERE is one of
      --file FILE      the file of users; add makes it if there is none
      [FLAGS OF SERVE], above all --config FILE or --users-file FILE

      Exit codes: 0 all is well, 1 the file cannot be read or written, or the user is there
      already or is not, 2 the arguments are wrong.

    """

  /// `parley group --help`.
  package static let group = """
    Usage: parley group set GROUP [folder:MATCH=MAY …] [document:MATCH=MAY …] [WHERE]
           parley group list [--json] [WHERE]
           parley group join GROUP USER … [WHERE]
           parley group leave GROUP USER … [WHERE]
           parley group remove GROUP [WHERE]

    Users have the rights of their groups beside their own. Groups stand in the file of users, in which a
    running server sees each change within a second: who loses a right is out of the notes at once.

    set gives a group the rights that are named, and no others; it makes the group if there is none.
    join and leave put users into it and take them out. remove takes the group away.

      GROUP              a name such as team
      folder:MATCH=MAY   what its users may do with the notes of folders: MATCH is a folder such as team,
                         or team/* for it and all below; a blank in it is written %20. MAY is some of
                         read,write,presence,manage, or all.
      document:MATCH=MAY, room:MATCH=MAY
                         see parley apikey --help
      --json             list as one JSON object

    Groups of an identity provider can be given the rights of one: oidc-group = staff group:team

    WHERE is one of
      --file FILE        the file of users
      [FLAGS OF SERVE], above all --config FILE or --users-file FILE

      Exit codes: 0 all is well, 1 the file cannot be read or written, or has no such group or user,
      2 the arguments are wrong.

    """

  /// `parley invite --help`.
  package static let invite = """
    Usage: parley invite make [--uses N] [--expires-in TIME] [--page URL] [MATCH=MAY …] [WHERE]
           parley invite list [--json] [WHERE]
           parley invite remove ID [WHERE]

    make prints a link, once. Whoever opens it on the page chooses a name and a password, and is a
    user from then on, with these rights. Only the link's hash is written down, into the data
    folder; a running server sees it at once.

    list has a line for each invitation that still counts: its id, how many people may still come
    in by it, until when, and the rights. remove withdraws one.

      --uses N           how many people may come in by it [1]
      --expires-in TIME  20m, 24h … [168h, a week]
      --page URL         the address of the page, which is put before the link
      document:MATCH=MAY, room:MATCH=MAY
                         what they may do; see parley apikey --help
                         [document:*=read,write,presence,manage]
      --json             list as one JSON object

    WHERE is [FLAGS OF SERVE] with users-file and data-dir, above all --config FILE.

      Exit codes: 0 all is well, 1 a file cannot be read or written, or no invitation has this id,
      2 the arguments are wrong.

    """

  /// `parley apikey --help`.
  package static let apiKey = """
    Usage: parley apikey NAME [operator] [room:MATCH=MAY …] [document:MATCH=MAY …] [--file FILE]

    Prints a new API key, once, and the line for api-key-file, in which only the key's hash
    stands. With --file the line is appended to that file, which a running server reads again.

      NAME                  whose key it is; edits and publications show it
      room:MATCH=MAY        what it may do with rooms: MATCH is a name, or the beginning of names
                            and *; MAY is some of read,write,publish,presence,manage, or all
      document:MATCH=MAY    the same for notes
      operator              may revoke tokens and make them

    A program sends the key as “Authorization: Bearer KEY”. To take a key back, remove its line.

      Exit codes: 0 all is well, 1 the file cannot be written, 2 the arguments are wrong.

    """

  /// `parley note --help`.
  package static let note = """
    Usage: parley note cat NOTE
           parley note tail NOTE [--lines N]
           parley note append NOTE [TEXT]
           parley note edit NOTE FILE [--take note|file]
           parley note watch NOTE --exec COMMAND [--rest TIME]

    Works with a note of a running server, as one of its clients. NOTE is the note's id.

    cat prints the text. tail prints the last lines (--lines, 10), then each line that is added at
    the end. append adds TEXT and a newline, or what comes on standard input as it is, and ends
    once the server has it on its disk.

    edit keeps a file and a note the same: each save of the file is merged into the note, word by
    word, and what others write is put into the file. A file that is not there is made. One that has
    another text than the note is left alone, unless --take says which of the two counts. Edit it
    with any editor; a file that an editor replaces, or removes and makes again, is followed. Files
    that are not UTF-8, contain a NUL, or are over 16 MB are not taken.

    watch runs a command with sh, the text on its standard input, at the start and whenever the text
    has rested for a while (--rest, 1s). PARLEY_NOTE is the note's id. One command runs at a time.

      --server URL       the server [PARLEY_SERVER, or ws://127.0.0.1:8080]
      --token-file FILE  a file with a token, read before each connection, so that it may be
                         renewed [PARLEY_TOKEN_FILE; the token itself may be in PARLEY_TOKEN]
      --name NAME        what others see [PARLEY_NAME, or the name of the user]
      --trust FILE       certificates in PEM form that are trusted instead of the system's
                         [PARLEY_TRUST]
      --wait TIME        how long to wait for the server at the start, and for its confirmation at
                         the end [10s]

    tail, edit and watch connect again after a loss. SIGINT, SIGTERM and SIGHUP end them; edit
    sends the last save first. A second signal ends them at once.

      Exit codes: 0 done, or stopped when asked to; 1 the server, the note or the file is not to
      be had; 2 the arguments are wrong; 3 stopped before the server confirmed all edits.

    """

  /// `parley share --help`.
  package static let share = """
    Usage: parley share NOTE [--access read|comment|write] [--expires TIME] [--json]
           parley share NOTE --end

    Prints the short address of a link that opens one note, NOTE by its id, on a running server. Whoever
    has the link may read, or write as well, until it ends. Your token needs the right to manage the
    note, and what the link grants.

    --end ends all links of the note that were made until now, everywhere within two seconds.

      --access RIGHT       what the link allows: read, comment or write [read]
      --expires TIME       for how long, from 1m to 8784h, which is 366 days [168h]
      --json               print the server's whole answer, with the link's address
      --server URL         the server [PARLEY_SERVER, or ws://127.0.0.1:8080]; links begin with it
      --token-file FILE    a file with a token or an API key [PARLEY_TOKEN_FILE; the token itself
                           may be in PARLEY_TOKEN]
      --trust FILE         certificates in PEM form that are trusted instead of the system's
                           [PARLEY_TRUST]

      Exit codes: 0 done, 1 the server is not to be had or refuses, 2 the arguments are wrong.

    """

  /// `parley backup --help`, and of the other commands for stores.
  package static let store = """
    Usage: parley backup FILE [--no-verify]
           parley restore FILE [--replace | --verify]
           parley migrate --from STORE --to STORE [--json]
           parley notes [--deleted] [--json]
           parley search WORD … [--limit N] [--json]
           parley reindex
           parley undelete ID
           parley webhooks
           parley export ID [--format md|txt|json|ops] [--output FILE]
           parley export --all --output FOLDER [--format md|txt|json|ops]
           parley import FILE [--format md|txt|json|ops] [--title TEXT] [--folder PATH] [--author NAME]
           parley import FOLDER [--folder PATH] [--author NAME]
           parley compact

    All of them take the settings of serve, above all --data-dir and --config.

    backup, notes, search, webhooks, export and check may run beside a server. A backup is copied in one
    moment, read through and compared with its checksums, and only then gets its name.

    migrate moves everything that a store holds to a new one: from a file to a PostgreSQL database, or back.
    STORE is a file, a data folder, or an address such as postgres://user@host/name. No server may be
    working with either, and the new one must be empty. Both are read through and compared at the end.
    Until then no server opens the new one; what was interrupted begins anew when it is run again. The
    source stays as it is. migrate takes no settings; a password is best left to PGPASSFILE.

    notes --deleted lists deleted notes with the time of their deletion; for deleted-age-max they may
    come back. With --json the list is one JSON object. undelete brings one back as it was, with its history; so does the page.

    search finds the notes with all of the words in title or text, best first, 20 unless --limit says
    otherwise: the id and title of each, and the place in its text, or all of it as one JSON object. The
    last word may be the beginning of one; #plan is a tag. parley notes search is the same. reindex makes the index that this needs from nothing; a server does so by
    itself when it is missing.

    restore, reindex, undelete, import and compact want the server to be stopped. restore reads the whole backup
    first; --verify does only that. A store that is there stays, unless --replace moves it aside.
    Each restored note goes on under a new epoch, so that clients know of the gap and nothing of
    theirs is lost.

    export writes to standard output without --output. The format ops holds every change with its
    author and time, and can be imported again. With --all each note gets a file of its own, named by
    title and id, in a folder that is empty or not there yet, with the notes' own folders below it. import
    prints the id of the note it made. Of a folder it takes each file with such an ending, with the folders
    that they are in, below --folder; it prints id and path of each, and says what could not be taken.

    webhooks prints events that were given up, a line of JSON each, the newest first.

    compact keeps what history-changes-min and history-age-min say: texts, named versions and
    what is needed to know re-sent changes again stay in any case. serve does the same bit by bit
    when one of the two is set.

    """

  /// `parley check --help`.
  package static let check = """
    Usage: parley check [--json] [FLAGS OF SERVE]

    Reads flags, environment and file as serve does, prints every setting with where it came
    from, and looks at the store. Unlike serve, it refuses names it does not know.

      --json  print all of it as one JSON object

      Exit codes: 0 all is well, 1 the store is not, 2 flags or configuration are wrong.

    """

  /// `parley doctor --help`.
  package static var doctor: String {
    """
    Usage: parley doctor [--json] [FLAGS OF SERVE]

    Looks at this machine with the settings that serve would have: how many files may be open,
    whether the port can be had and the certificate used, who gets in, what the disk is and how
    long it takes for a sync, whether the clock is kept right. Writes a line for each; changes
    nothing.

      --json  print the lines as one JSON object

      Exit codes: 0 nothing is in the way, 1 something is, 2 flags or configuration are wrong.

    """
  }

  /// `parley health --help`.
  package static var health: String {
    """
    Usage: parley health [FLAGS OF SERVE]

    Asks the server that runs on this machine with these settings whether it takes changes, for at
    most five seconds. Its certificate is not judged.

      Exit codes: 0 it takes changes, 1 it does not or does not answer, 2 flags or configuration are
      wrong.

    """
  }

  /// Flags under the headings of their sections, texts wrapped beside them.
  private static func flags(_ isMeant: (Setting) -> Bool) -> String {
    var text = "\nConfiguration file\n"
    append(
      "--config FILE",
      "Read settings from a file of name = value lines; # begins a comment.", nil, to: &text)
    let standard = Configuration()
    for section in Setting.Section.allCases {
      let settings = Configuration.settings.filter { $0.section == section && isMeant($0) }
      if settings.isEmpty { continue }
      text += "\n\(section.rawValue)\n"
      for setting in settings {
        let value = setting.text(in: standard)
        let isFlag = if case .flag = setting.shape { true } else { false }
        append(
          "--\(setting.name)" + (isFlag ? "" : " \(setting.placeholder)"), setting.help,
          isFlag || value.isEmpty ? nil : value, to: &text)
      }
    }
    return text
  }

  private static let indentation = 6
  private static let width = 88

  private static func append(
    _ flag: String, _ help: String, _ standard: String?, to text: inout String
  ) {
    text += "  \(flag)\n"
    var line = String(repeating: " ", count: indentation)
    // The default stays in one piece, unless it is a list.
    let standard = standard.map { "[\($0)]" } ?? ""
    let words =
      help.split(separator: " ")
      + standard.split(separator: " ", maxSplits: standard.contains(",") ? .max : 0)
    var isFirst = true
    for word in words {
      if !isFirst, line.count + 1 + word.count > width {
        text += line + "\n"
        line = String(repeating: " ", count: indentation)
        isFirst = true
      }
      line += (isFirst ? "" : " ") + word
      isFirst = false
    }
    text += line + "\n"
  }
}

/// The output of `--help`.
package enum Help {
  /// The output of `parley --help`.
  package static let program = """
    Parley \(Version.current): notes that several people edit at the same time, on your own machine.

    Usage: parley COMMAND [FLAGS]

    Commands:
      setup    Ask five questions, and write a configuration for a team
      serve    Run the gateway: page, notes and WebSockets on one port
      check    Print the settings, verify the store, then exit
      doctor   Check this machine: open files, TLS, disk, clock …
      health   Ask the running server whether it accepts changes
      backup   Copy the store, also beside a running server
      restore  Replace the store by a backup
      migrate  Move everything from a file to a database, or back
      notes    List the notes with their ids
      names    List the names of published notes
      audit    Show who changed rights and accounts
      search   Find notes by words
      reindex  Rebuild the search index
      undelete Restore a deleted note
      webhooks List dead letters: events that could not be delivered
      export   Write a note as Markdown, text, JSON or with its whole log
      import   Make a note from a file, or notes from a folder or an archive
      compact  Drop history beyond the retention settings
      token    Make a token with rights, or inspect one
      revoke   Revoke tokens before they expire
      user     Add, list and remove users who log in with a password, or set a password
      group    Give groups of users rights, such as to a folder
      invite   Make, list and withdraw invitations to become a user
      mail     Send a test message
      apikey   Make an API key for programs that publish, read or write over HTTP
      note     Read, follow and edit a note on a running server, in a terminal or a script
      share    Make a link to a note of a running server, or publish it under a readable name

    parley COMMAND --help lists the flags of a command; parley serve --help-all lists all settings.
    parley --version prints the version.

    """

  /// The output of `parley serve --help`, with the most used settings.
  package static var serve: String {
    """
    Usage: parley serve [FLAGS]

    Runs the gateway until SIGTERM or SIGINT; a second signal ends it at once.

    """ + flags { common.contains($0.name) } + """

      parley serve --help-all lists all \(Configuration.settings.count) settings.
      """ + "\n" + serveTail
  }

  /// The output of `parley serve --help-all`.
  package static var serveAll: String {
    """
    Usage: parley serve [FLAGS]

    Runs the gateway until SIGTERM or SIGINT; a second signal ends it at once.

    """ + flags { _ in true } + serveTail
  }

  /// The names of the settings in `parley serve --help`.
  package static let common: Set<String> = [
    "host", "port", "allow-open-network", "trusted-proxy", "tls-certificate", "tls-key", "auth-key",
    "users-file", "api-key-file", "data-dir", "deleted-age-max", "log-level",
  ]

  private static let serveTail = """

    Every flag is also a variable and a line of the file: --ping-interval 10s is the same as
    PARLEY_PING_INTERVAL=10s and as “ping-interval = 10s”. A flag overrides the environment,
    the environment the file, the file the default.

    Exit codes: 0 stopped on request, 1 could not start or continue, 2 invalid flags or
    configuration.

    """

  /// The output of `parley setup --help`.
  package static let setup = """
    Usage: parley setup [FLAGS]

    Asks five questions, validates the answers, writes a configuration file and the first user,
    checks them as parley check does, and prints the next steps. It writes nothing before the last
    answer; Ctrl-C changes nothing. Each answer may be a flag:

      --host-name NAME        1. the host name in the browser [localhost]
      --reach WAY             2. tls (with certificate files), proxy (one on this machine encrypts)
                              or local (only this machine connects, unencrypted) [local]
      --tls-certificate FILE  with tls: the certificate, its chain behind it
      --tls-key FILE          with tls: its private key
      --access WHO            3. users (with passwords), tokens (that another system signs) or
                              anyone (with local only) [users]
      --auth-key FILE         with tokens: the public key that checks them
      --user USER             4. with users: the first one, with all rights; the password is typed
                              at the terminal, or is the first line of standard input
      --name NAME             the first user's name for others [USER]
      --data-dir FOLDER       5. for notes, users and other data [data, or /var/lib/parley]
      --port PORT             the port to listen on [443 with tls, or else 8080]
      --config FILE           the file to write [parley.conf, or /etc/parley/parley.conf]
      --replace               renames an existing file to FILE.old and writes a new one; without
                              it, setup asks, and a script stops
      --non-interactive       ask nothing: a missing flag has its default, or is an error; also if
                              standard input is not a terminal

    An existing user keeps the password.

      Exit codes: 0 written, 1 an error, 2 invalid or missing answers.

    """

  /// The output of `parley token --help`.
  package static let token = """
    Usage: parley token make --user ID (--key FILE | --secret FILE) [FLAGS]
           parley token inspect (TOKEN | -) [FLAGS OF SERVE]

    make prints a JSON Web Token:
      --user ID             the user (sub)
      --name NAME           the user's name for others
      --document MATCH=MAY  rights to notes: MATCH is an id, or the beginning of ids and *;
                            MAY is some of read,write,publish,presence,manage, or all.
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
    reads it from standard input, so that it is not in the list of processes.

      Exit codes: 0 valid, 1 an invalid token or key, 2 invalid flags.

    """

  /// The output of `parley revoke --help`.
  package static let revoke = """
    Usage: parley revoke (--user ID | --token ID) … [FLAGS OF SERVE]

    Revokes all tokens that were issued to a user until now, or the one token with this id (jti).
    The revocation is written into the data folder (--data-dir, --config). A server that runs there
    closes the connections concerned within two seconds, and rejects these tokens from then on.

      Exit codes: 0 done, 1 the file cannot be written, 2 invalid flags.

    """

  /// The output of `parley user --help`.
  package static let user = """
    Usage: parley user add USER [--name NAME] [--mail ADDRESS] [MATCH=MAY …] [group:GROUP …] [WHERE]
           parley user set USER [--name NAME] [--mail ADDRESS] [MATCH=MAY …] [group:GROUP …] [WHERE]
           parley user list [--json] [WHERE]
           parley user passwd USER [WHERE]
           parley user reset USER [--mail] [--language LANGUAGE] [--page URL] [FLAGS OF SERVE]
           parley user sessions USER [--json] [FLAGS OF SERVE]
           parley user remove USER [WHERE]

    Users log in with a password. The file of users is the setting users-file; a running server
    applies each change within a second, or at once on SIGHUP.

    add reads a password and adds the user; without a file it prints the line for one. set changes
    the name that others see, or replaces all rights and groups; sessions continue. passwd sets
    another password; remove removes the user. Both end all sessions of the user: acknowledged
    edits stay, and unsent edits stay in the user's browser.

    reset prints a link with which a user chooses a new password, once and within an hour. With --mail
    it is sent to the user's mail address instead.

    sessions lists the sessions of a user, by a password or at a provider: the session's id, its
    last use, its beginning, and the browser or program. parley revoke --token ID ends one,
    parley revoke --user USER all of them.

    A password is typed at the terminal without being shown, or is the first line of standard
    input. It has 8 characters or more. Only its hash is written.

      USER             the name for logging in, such as ada@example.org
      --name NAME      the name for others [USER]
      --mail ADDRESS   the mail address, for links to new passwords; '' removes it
      --page URL       the address of the page, for a complete link [public-url]
      document:MATCH=MAY, folder:MATCH=MAY, room:MATCH=MAY
                       rights; see parley apikey --help and parley group --help
      group:GROUP      a group of the user; see parley group --help
      --json           list as one JSON object

    WHERE is one of
      --file FILE      the file of users; add makes it if it does not exist
      [FLAGS OF SERVE], above all --config FILE or --users-file FILE

      Exit codes: 0 done, 1 the file cannot be read or written, or the user exists already or does
      not exist, 2 invalid arguments.

    """

  /// The output of `parley group --help`.
  package static let group = """
    Usage: parley group set GROUP [folder:MATCH=MAY …] [document:MATCH=MAY …] [WHERE]
           parley group list [--json] [WHERE]
           parley group join GROUP USER … [WHERE]
           parley group leave GROUP USER … [WHERE]
           parley group remove GROUP [WHERE]

    Users have the rights of their groups beside their own. Groups are part of the file of users; a
    running server applies each change within a second, and closes notes whose rights are lost.

    set gives a group exactly the named rights; it makes the group if it does not exist. join and
    leave add and remove users. remove removes the group.

      GROUP              a name such as team
      folder:MATCH=MAY   rights to the notes of folders: MATCH is a folder such as team, or team/*
                         for it and all below; a space in it is written %20. MAY is some of
                         read,write,presence,manage, or all.
      document:MATCH=MAY, room:MATCH=MAY
                         see parley apikey --help
      --json             list as one JSON object

    To give its rights to a group of an identity provider: oidc-group = staff group:team

    WHERE is one of
      --file FILE        the file of users
      [FLAGS OF SERVE], above all --config FILE or --users-file FILE

      Exit codes: 0 done, 1 the file cannot be read or written, or has no such group or user,
      2 invalid arguments.

    """

  /// The output of `parley invite --help`.
  package static let invite = """
    Usage: parley invite make [--uses N] [--expires-in TIME] [--page URL] [--mail ADDRESS]
                              [--language LANGUAGE] [MATCH=MAY …] [WHERE]
           parley invite list [--json] [WHERE]
           parley invite remove ID [WHERE]

    make prints a link, once. Whoever opens it on the page chooses a name and a password, and becomes
    a user with these rights. Only the link's hash is stored, in the data folder; a running server
    accepts the link at once.

    list has a line for each valid invitation: its id, how many people may still use it, its expiry,
    and the rights. remove withdraws one.

      --uses N           how many people may use it [1]
      --expires-in TIME  20m, 24h … [168h, a week]
      --page URL         the address of the page, to print a complete link
      --mail ADDRESS     also send the link to one person by the mail server of smtp-url
      --language LANGUAGE
                         the language of the message: ar, de, en, es, fr or ja [en]
      document:MATCH=MAY, room:MATCH=MAY
                         rights; see parley apikey --help
                         [document:*=read,write,presence,manage]
      --json             list as one JSON object

    WHERE is [FLAGS OF SERVE] with users-file and data-dir, above all --config FILE.

      Exit codes: 0 done, 1 a file cannot be read or written, or no invitation has this id,
      or the mail server did not take the message, 2 invalid arguments.

    """

  /// The output of `parley mail --help`.
  package static let mail = """
    Usage: parley mail test ADDRESS [--language LANGUAGE] [WHERE]

    test sends one message to the address by the mail server of smtp-url, and prints whether the mail
    server took it.

      --language LANGUAGE  ar, de, en, es, fr or ja [en]

    WHERE is [FLAGS OF SERVE] with smtp-url and mail-from, above all --config FILE.

      Exit codes: 0 done, 1 the mail server did not take the message, 2 invalid arguments.

    """

  /// The output of `parley apikey --help`.
  package static let apiKey = """
    Usage: parley apikey NAME [operator] [room:MATCH=MAY …] [document:MATCH=MAY …] [--file FILE]

    Prints a new API key, once, and the line for api-key-file, which contains only the key's hash.
    With --file the line is appended to that file, which a running server reloads.

      NAME                  the key's name; edits and publications show it
      room:MATCH=MAY        rights to rooms: MATCH is a name, or the beginning of names and *;
                            MAY is some of read,write,publish,presence,manage, or all
      document:MATCH=MAY    the same for notes
      operator              may revoke tokens and make them

    A program sends the key as “Authorization: Bearer KEY”. To revoke a key, remove its line.

      Exit codes: 0 done, 1 the file cannot be written, 2 invalid arguments.

    """

  /// The output of `parley note --help`.
  package static let note = """
    Usage: parley note cat NOTE
           parley note tail NOTE [--lines N]
           parley note append NOTE [TEXT]
           parley note edit NOTE FILE [--take note|file]
           parley note watch NOTE --exec COMMAND [--rest TIME]

    Connects to a running server as a client and works with one note. NOTE is the note's id.

    cat prints the text. tail prints the last lines (--lines, 10), then each line that is added at
    the end. append adds TEXT and a newline, or the unchanged standard input, and ends once it is
    on the server's disk.

    edit synchronises a file and a note: it merges each save of the file into the note, word by
    word, and writes other people's edits into the file. It makes a missing file. A file with
    another text than the note is left alone, unless --take says which of the two counts. Use any
    editor; edit follows a file that an editor replaces, or removes and makes again. It rejects
    files that are not UTF-8, contain a NUL, or are over 16 MB.

    watch runs a command with sh, the text on its standard input, at the start and after each change,
    once no text has been typed for a while (--rest, 1s). PARLEY_NOTE is the note's id. One command
    runs at a time.

      --server URL       the server [PARLEY_SERVER, or ws://127.0.0.1:8080]
      --token-file FILE  a file with a token, read before each connection, so that it may be
                         renewed [PARLEY_TOKEN_FILE; the token itself may be in PARLEY_TOKEN]
      --name NAME        the name for others [PARLEY_NAME, or the name of the user]
      --trust FILE       certificates in PEM form that are trusted instead of the system's
                         [PARLEY_TRUST]
      --wait TIME        how long to wait for the server at the start, and for its acknowledgement
                         at the end [10s]

    tail, edit and watch reconnect after a loss. SIGINT, SIGTERM and SIGHUP end them; edit
    sends the last save first. A second signal ends them at once.

      Exit codes: 0 done, or stopped on request; 1 the server, the note or the file is not
      available; 2 invalid arguments; 3 stopped before the server acknowledged all edits.

    """

  /// The output of `parley share --help`.
  package static let share = """
    Usage: parley share NOTE [--access read|comment|write] [--expires TIME] [--json]
           parley share NOTE --end
           parley share NOTE --name NAME [--json]
           parley share NOTE --no-name

    Prints the short address of a link to one note on a running server; NOTE is its id. People with
    the link may read, or write as well, until it expires. Your token needs the right to manage the
    note, and the rights of the link.

    --end ends all existing links of the note, everywhere within two seconds.

    --name publishes the note under a readable name, such as minutes-2026, if the server's setting
    public-names allows it, and prints its address: everyone who can reach the server may then read
    the note with its history, files and comments. --no-name withdraws the name; another note can
    get it after 30 days. parley names lists the names of all notes.

      --access RIGHT       the right of the link: read, comment or write [read]
      --expires TIME       for how long, from 1m to 8784h, which is 366 days [168h]
      --json               print the server's whole answer, with the link's address
      --server URL         the server [PARLEY_SERVER, or ws://127.0.0.1:8080]; links begin with it
      --token-file FILE    a file with a token or an API key [PARLEY_TOKEN_FILE; the token itself
                           may be in PARLEY_TOKEN]
      --trust FILE         certificates in PEM form that are trusted instead of the system's
                           [PARLEY_TRUST]

      Exit codes: 0 done, 1 the server is not available or refuses, 2 invalid arguments.

    """

  /// The output of `parley audit --help`.
  package static let audit = """
    Usage: parley audit [--actor NAME] [--action NAME] [--target NAME] [--outcome done|refused]
                        [--since TIME] [--until TIME] [--limit N | --all] [--json]

    Shows the audit log, the newest record first, 100 unless --limit or --all says otherwise: who changed
    rights or accounts, when, from which address, and with which result; also sign-ins and refused ones.
    It never contains the content of notes, passwords or tokens. It may run beside a server.

      --actor NAME         records of a user, of an API key (key:NAME), or of the file of users (file:users)
      --action NAME        one action such as link.create, or all that begin so, such as link
      --target NAME        records about a note, a user, a group or a folder
      --outcome WORD       done or refused
      --since, --until     milliseconds since 1970, as in the records
      --json               each record as one JSON object on a line of its own

    audit-age-max says for how long records are kept. It accepts the settings of serve, above all
    --data-dir and --config.

    """

  /// The output of `parley backup --help` and of the other commands for stores.
  package static let store = """
    Usage: parley backup FILE [--no-verify]
           parley restore FILE [--replace | --verify]
           parley migrate --from STORE --to STORE [--json]
           parley notes [--deleted] [--json]
           parley names [--json]
           parley search WORD … [--limit N] [--json]
           parley reindex
           parley undelete ID
           parley webhooks
           parley export ID [--format md|txt|html|json|ops] [--output FILE]
           parley export --all --output FOLDER [--format md|txt|html|json|ops]
           parley import FILE [--format md|txt|json|ops] [--title TEXT] [--folder PATH] [--author NAME]
           parley import FOLDER|ARCHIVE [--folder PATH] [--author NAME]
           parley compact

    All of them accept the settings of serve, above all --data-dir and --config.

    backup, notes, names, search, webhooks, export and check may run beside a server. A backup is a
    copy of one moment; backup verifies its checksums, and only then gives the file its name.

    migrate copies a whole store to a new one: from a file to a PostgreSQL database, or back. STORE is a
    file, a data folder, or an address such as postgres://user@host/name. No server may be using either,
    and the new one must be empty. migrate verifies and compares both at the end; until then no server
    opens the new one. After an interruption, run it again; it starts from the beginning. The source is
    not changed. migrate takes no settings; put a password into PGPASSFILE.

    notes --deleted lists deleted notes with the time of their deletion; for deleted-age-max they can
    be restored. With --json the list is one JSON object. undelete restores a note with its history; so
    does the page.

    names lists the readable names under which notes are published, each with the note's id and the
    user who has given it.

    search finds the notes with all of the words in title or text, best first, 20 unless --limit says
    otherwise: the id and title of each, and an excerpt, or all of it as one JSON object. The last word
    may be a prefix; #plan is a tag. parley notes search is the same. reindex rebuilds the search index;
    a server does so by itself if the index is missing.

    restore, reindex, undelete, import and compact need the server to be stopped. restore verifies the
    whole backup first; --verify does only that. An existing store is kept, unless --replace moves it
    aside. Each restored note gets a new epoch, so that clients detect the gap and lose none of their
    edits.

    export writes to standard output without --output. The format ops holds every change with its
    author and time, and can be imported again. With --all each note gets a file of its own, named by
    title and id, in an empty or new folder, with the notes' own folders below it. import prints the id
    of the new note. The title is --title, the title in the front matter, the first heading, or the
    file's name. For a folder, a ZIP archive or an .etherpad file it makes a note of each file in it
    that is one, into the same subfolders below --folder; it prints id and path of each, and names
    files that it could not import. Run again, it makes only the notes that are not there yet.

    webhooks prints dead letters, a line of JSON each, the newest first.

    compact drops changes beyond history-changes-min and history-age-min; texts, named versions and
    the data for detecting resent changes are always kept. serve does the same gradually if one of
    the two is set.

    """

  /// The output of `parley check --help`.
  package static let check = """
    Usage: parley check [--json] [FLAGS OF SERVE]

    Reads flags, environment and file as serve does, prints every setting with its source, and
    verifies the store. Unlike serve, it rejects unknown names.

      --json  print all of it as one JSON object

      Exit codes: 0 valid, 1 the store is damaged, 2 invalid flags or configuration.

    """

  /// The output of `parley doctor --help`.
  package static var doctor: String {
    """
    Usage: parley doctor [--json] [FLAGS OF SERVE]

    Checks this machine with the settings of serve: the limit of open files, the port, the
    certificate, access, the disk and its sync time, whether the clock is synchronised. Prints a
    line for each; changes nothing.

      --json  print the lines as one JSON object

      Exit codes: 0 no problem, 1 a problem, 2 invalid flags or configuration.

    """
  }

  /// The output of `parley health --help`.
  package static var health: String {
    """
    Usage: parley health [FLAGS OF SERVE]

    Asks the server that runs on this machine with these settings whether it accepts changes, for
    at most five seconds. It does not verify the certificate.

      Exit codes: 0 the server accepts changes, 1 it does not or does not respond, 2 invalid flags or
      configuration.

    """
  }

  /// Returns the flags of settings under the headings of their sections, with wrapped help texts.
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
    // Do not wrap within the default value, unless it is a list.
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

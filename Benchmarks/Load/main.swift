import Glibc

let help = """
  Usage: parley-load MODE --port PORT [--pid PID] [FLAGS]

  A load program for WebSocket servers on this machine. It prints one line of JSON; with --pid,
  the processor time of the server is in it.

  For any server; with --trust CERTIFICATE over TLS:
    echo      --path /echo --connections 100 --idle 0 --size 64 --depth 1
    fanout    --subscribe-path /sub --publish-path /pub --connections 1000 --size 200
              --window 4 | --rate MESSAGES_PER_SECOND
              echo and fanout take --speaks plain|nats|mqtt, and fanout yjs and yjs-map
    connect   --path /echo --at-once 64
    idle      --path /echo --connections 8000 --settle 2; on /ws each subscribes to a room,
              --token TOKEN
  For Parley:
    note      --connections 1000 --text 60 --window AUTHORS | --rate CHANGES_PER_SECOND:
              authors and followers of one note
    room      --dialect native|socketio|recovery|bayeux --connections 1000 --size 200
              --window 4 | --rate MESSAGES_PER_SECOND: a publisher and subscribers of one room
              --names 10: each publication changes one of so many values of the room
    snapshots --names 1000 | --text SCALARS: subscribing to the values of a room, or joining a note,
              again and again on --connections 20
    signals   --people 20 --rate 30 --sends signal|presence: people who send so many a second to all
    rooms     --rooms 1000 --members 20 --rooms-each 2 --rate 500: publications that go round
    typists   --typists 20 --notes 1 --interval 200: people who type every so many milliseconds;
              --text SCALARS that each note begins with;
              --size SCALARS around which the texts stay, --patience 30 for what is under way; --token TOKEN
    storm     --people 5000 --at-once 1000 --text 1000: everybody joins one note at once
  All take --seconds and --warm. With --port A,B and --pid A,B connections are dealt out in turn
  among several servers, whose processor time is summed.

    null      --port PORT --certificate FILE --key FILE: no load, but the least that a server can do, to compare with
    codec     --what read-change --times 2000: no server either; reads or writes one message again
              and again, for callgrind to count the instructions
  """

let options = Options(Array(CommandLine.arguments.dropFirst()))
let ports = options.numbers("port", 8080)
let server = ServerProcess(ids: options.numbers("pid", 0).filter { $0 != 0 })

/// Returns a client of the servers, with TLS if an option names a certificate to trust.
func client() -> Client {
  Client(ports: ports, tls: options.word("trust").map(ClientTLS.init(trusting:)))
}

switch options.mode {
case "echo": Echo.run(options, client(), server)
case "fanout": Fanout.run(options, client(), server)
case "connect": Connect.run(options, client(), server)
case "idle": Idle.run(options, client(), server)
case "note": NoteFanout.run(options, client(), server)
case "room": RoomFanout.run(options, client(), server)
case "snapshots": Snapshots.run(options, client(), server)
case "signals": Signals.run(options, client(), server)
case "rooms": ManyRooms.run(options, client(), server)
case "typists": Typists.run(options, client(), server)
case "storm": Storm.run(options, client(), server)
case "codec": Codec.run(options)
case "null":
  NullServer.run(
    port: ports[0], certificate: options.word("certificate"), key: options.word("key"))
default:
  puts(help)
  exit(options.mode == "help" || options.mode == "--help" ? 0 : 2)
}

import Glibc

let help = """
  Usage: parley-load MODE --port PORT [--pid PID] [FLAGS]

  A load program for WebSocket servers on this machine. It prints one line of JSON; with --pid,
  the processor time of the server is in it.

  For any server:
    echo      --path /echo --connections 100 --idle 0 --size 64 --depth 1
    fanout    --subscribe-path /sub --publish-path /pub --connections 1000 --size 200
              --window 4 | --rate MESSAGES_PER_SECOND
    connect   --path /echo --at-once 64
    idle      --path /echo --connections 8000 --settle 2; on /ws each subscribes to a room
  For Parley:
    note      --connections 1000 --text 60 --window AUTHORS | --rate CHANGES_PER_SECOND:
              authors and followers of one note
    room      --dialect native|socketio|recovery|bayeux --connections 1000 --size 200
              --window 4 | --rate MESSAGES_PER_SECOND: a publisher and subscribers of one room
    typists   --typists 20 --notes 1 --interval 200: people who type every so many milliseconds;
              --size SCALARS around which the texts stay, --patience 30 for what is under way
    storm     --people 5000 --at-once 1000 --text 1000: everybody joins one note at once
  All take --seconds and --warm.

    null      --port PORT: no load, but the least that a server can do, to compare with
    codec     --what read-change --times 2000: no server either; reads or writes one message again
              and again, for callgrind to count the instructions
  """

let options = Options(Array(CommandLine.arguments.dropFirst()))
let port = options.number("port", 8080)
let server = ServerProcess(id: options.number("pid", 0))
switch options.mode {
case "echo": Echo.run(options, Client(port: port), server)
case "fanout": Fanout.run(options, Client(port: port), server)
case "connect": Connect.run(options, Client(port: port), server)
case "idle": Idle.run(options, Client(port: port), server)
case "note": NoteFanout.run(options, Client(port: port), server)
case "room": RoomFanout.run(options, Client(port: port), server)
case "typists": Typists.run(options, Client(port: port), server)
case "storm": Storm.run(options, Client(port: port), server)
case "codec": Codec.run(options)
case "null": NullServer.run(port: port)
default:
  puts(help)
  exit(options.mode == "help" || options.mode == "--help" ? 0 : 2)
}

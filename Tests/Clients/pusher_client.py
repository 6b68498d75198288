"""pysher, and the Python library of Pusher's back ends, told what to do by lines of JSON.

    pusher_client.py 8080 KEY SECRET USER    a client; USER is who it is on presence channels
    pusher_client.py 8080 KEY SECRET back-end 7    a back end; 7 is the app's id

Not a test, but what tests run. Says what happens as lines of JSON.
"""

import json
import sys
import threading

lock = threading.Lock()


def say(*happening):
    with lock:
        print(json.dumps(happening), flush=True)


def client(port, key, secret, user):
    import pysher

    pusher = pysher.Pusher(
        key, secret=secret, custom_host="127.0.0.1", port=int(port), secure=False, auto_sub=False,
        reconnect_interval=0.1, user_data={"user_id": user, "user_info": {"name": f"The {user}"}},
    )  # fmt: skip
    names = set()
    # pysher drops events of a channel that arrive before it has returned from `subscribe`.
    subscribing = threading.RLock()
    handle = pusher.connection.event_handler

    def handle_after_subscribing(*event):
        with subscribing:
            handle(*event)

    pusher.connection.event_handler = handle_after_subscribing

    def subscribe(name):
        with subscribing:
            bind(pusher.subscribe(name), name)

    def bind(channel, name):
        for event in [
            "pusher_internal:subscription_succeeded", "pusher:subscription_error",
            "pusher_internal:member_added", "pusher_internal:member_removed", "pusher:cache_miss",
            "order", "client-typing",
        ]:  # fmt: skip
            channel.bind(event, lambda data, event=event: say("event", name, event, data))

    def connected(_):
        # pysher signs nothing when it subscribes again by itself.
        for name in sorted(names):
            subscribe(name)
        say("connected")

    pusher.connection.bind("pusher:connection_established", connected)
    pusher.connection.bind("pusher:error", lambda data: say("error", data))
    pusher.connect()
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        if command == "subscribe":
            names.add(arguments[0])
            subscribe(arguments[0])
        elif command == "emit":
            channel, event, data = arguments
            pusher.channel(channel).trigger(event, data)
        say("done", command)
    pusher.disconnect(1)


def back_end(port, key, secret, _, app):
    import pusher

    back_end = pusher.Pusher(app, key, secret, ssl=False, host="127.0.0.1", port=int(port))
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            say("done", command, getattr(back_end, command)(*arguments))
        except Exception as error:  # whatever it is, the test is to see it
            say("failed", command, repr(error))


(back_end if sys.argv[4] == "back-end" else client)(*sys.argv[1:])

// node's ws: /echo answers each message with itself, /pub goes out to all at /sub.
"use strict";
const { WebSocketServer } = require("ws");

const subscribers = new Set();
const server = new WebSocketServer({
  port: Number(process.argv[2]),
  host: "127.0.0.1",
  perMessageDeflate: false,
  clientTracking: false,
});

server.on("connection", (socket, request) => {
  if (request.url === "/sub") {
    subscribers.add(socket);
    socket.on("close", () => subscribers.delete(socket));
  } else if (request.url === "/pub") {
    socket.on("message", (data) => {
      for (const subscriber of subscribers) subscriber.send(data, { binary: false });
    });
  } else {
    socket.on("message", (data) => socket.send(data, { binary: false }));
  }
});

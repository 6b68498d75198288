# ruby-faye, told what to do by lines of JSON.
#
#     faye_client.rb http://127.0.0.1:8080/faye TOKEN websocket|long-polling
#
# It shakes hands by a request in either case, and then goes on over a WebSocket if it may.
#
# Not a test, but what tests run. Says what happens as lines of JSON.

require "eventmachine"
require "faye"
require "json"

$stdout.sync = true

def say(*happening)
  puts JSON.generate(happening)
end

# Puts the token into every subscribe and publish, as apps of this family do.
class Credentials
  attr_writer :token

  def initialize(token)
    @token = token
  end

  def outgoing(message, callback)
    if message["channel"] == "/meta/subscribe" || !message["channel"].start_with?("/meta/")
      message["ext"] = { "access_token" => @token, "timestamp" => Time.now.to_i }
    end
    callback.call(message)
  end
end

address, token, kind = ARGV
EM.run do
  client = Faye::Client.new(address)
  client.disable("websocket") unless kind == "websocket"
  credentials = Credentials.new(token)
  client.add_extension(credentials)
  client.on("transport:up") { say("up") }
  subscriptions = {}
  orders = EM::Channel.new
  orders.subscribe do |command, *arguments|
    case command
    when "subscribe"
      channel = arguments[0]
      subscription = client.subscribe(channel) do |data|
        # Kept alive every half minute, as on a busy machine a test may meet.
        say("event", channel, data) unless data == { "type" => "ping" }
      end
      subscription.callback { say("done", "subscribe", channel) }
      subscription.errback { |error| say("refused", "subscribe", error.code, error.params) }
      subscriptions[channel] = subscription
    when "token"
      credentials.token = arguments[0]
      say("done", "token")
    when "unsubscribe"
      subscriptions.delete(arguments[0]).cancel
      say("done", "unsubscribe")
    when "publish"
      publication = client.publish(*arguments)
      publication.callback { say("done", "publish") }
      publication.errback { |error| say("refused", "publish", error.code, error.params) }
    when "end"
      client.disconnect
      EM.add_timer(0.2) { EM.stop }
    end
  end
  Thread.new do
    while (line = $stdin.gets)
      order = JSON.parse(line)
      EM.next_tick { orders << order }
    end
    EM.next_tick { orders << ["end"] }
  end
end

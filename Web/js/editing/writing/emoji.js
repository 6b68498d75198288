// Emoji with the short names that chats and code hosts use.

/** @type {[string, string][]} Each emoji, and its names, separated by spaces. */
export const emoji = `
😀 grinning|😄 smile happy|😁 grin|😂 joy laugh|🤣 rofl|🙂 slightly_smiling|😉 wink|😊 blush|😍 heart_eyes|😘 kissing_heart|😎 sunglasses cool|🤔 thinking
😐 neutral_face|🙄 roll_eyes|😏 smirk|😬 grimacing|😴 sleeping|😢 cry sad|😭 sob|😤 triumph|😠 angry|😱 scream|😳 flushed|🥳 partying_face party|🤯 exploding_head
👍 +1 thumbsup yes|👎 -1 thumbsdown no|👌 ok_hand|👏 clap|🙌 raised_hands|🙏 pray thanks please|💪 muscle|👋 wave hello|🤝 handshake|✌️ v|👀 eyes look|🤷 shrug|🤦 facepalm
❤️ heart love|💔 broken_heart|💙 blue_heart|💚 green_heart|💯 100|✨ sparkles|⭐ star|🌟 star2|🔥 fire|🎉 tada party|🎂 birthday cake|🎁 gift|🏆 trophy|🥇 1st_place
✅ white_check_mark done|✔️ heavy_check_mark|❌ x no|⚠️ warning|🚫 no_entry_sign|❓ question|❗ exclamation|💡 bulb idea|📌 pushpin|📎 paperclip|🔗 link|🔒 lock|🔑 key|🔔 bell
📝 memo note|📅 date calendar|📆 calendar|⏰ alarm_clock|⏳ hourglass|📈 chart_up|📉 chart_down|📊 bar_chart|📦 package|📁 file_folder|📄 page|📚 books|📖 book|✏️ pencil
💬 speech_balloon|📢 loudspeaker|📧 email|📞 telephone_receiver|💻 computer|🖥️ desktop|📱 iphone phone|🖨️ printer|🔍 mag search|🔧 wrench|🔨 hammer|⚙️ gear|🐛 bug|🚀 rocket ship|🚧 construction
☀️ sunny sun|🌧️ rain|⛈️ storm|❄️ snowflake|🌈 rainbow|🌍 earth|🌱 seedling|🌳 tree|🌸 cherry_blossom|🐱 cat|🐶 dog|🐢 turtle|🦊 fox|🐝 bee
☕ coffee|🍵 tea|🍺 beer|🍷 wine|🍕 pizza|🍎 apple|🍰 cake|🏠 house home|🏢 office|🚲 bike|🚗 car|🚆 train|✈️ airplane flight|⚽ soccer|🎵 musical_note|🎨 art|🎬 clapper
➡️ arrow_right|⬅️ arrow_left|⬆️ arrow_up|⬇️ arrow_down|🔄 arrows refresh|➕ plus|➖ minus|🆕 new|🆗 ok|🔴 red_circle|🟡 yellow_circle|🟢 green_circle|🔵 blue_circle
`.trim().split(/[|\n]/).map((entry) => [entry.slice(0, entry.indexOf(" ")), entry.slice(entry.indexOf(" ") + 1)]);

# The tutorial of a bot and a webhook, as printed: each message is received once, although the receiver was away.
. "$(dirname "$0")/../lib/library.sh"
. "$here/lib/tutorial.sh"

free_port
follow bot-to-webhook.md -e "s/8008/$port/"
expect "$(cut -d' ' -f2- received.log | paste -sd,)" 'photo,Check this out!,photo,From the shell,The door is open,Is anybody there?'
for photo in received/*.jpg; do is_bare "$photo"; done

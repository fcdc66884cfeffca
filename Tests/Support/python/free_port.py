"""A port that no other test takes until standard input ends."""

import leash

leash.hold({"port": leash.free_port()})

"""photospool-xmtp, halted for ever at a moment of its work, so that a test can kill it there.

The moment is one line in the file `halt` beside the key file: `before` or `after`, then a verb of the protocol; `after`
is behind all that the verb does, and before its answer. Says `halted` on standard error when it is there. With an empty
file, or none, it is the program as it is.
"""

import asyncio
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", "..", "Sources", "photospool-xmtp", "photospool-xmtp.py")
HALT = os.path.join(os.path.dirname(sys.argv[sys.argv.index("--key") + 1]), "halt")

specification = importlib.util.spec_from_file_location("program", PROGRAM)
program = importlib.util.module_from_spec(specification)
specification.loader.exec_module(program)


async def halt(moment):
    if os.path.exists(HALT) and open(HALT).read().strip() == moment:
        print("halted", file=sys.stderr, flush=True)
        await asyncio.Event().wait()


def halting(verb):
    work = getattr(program.Work, verb)

    async def method(self, request):
        await halt(f"before {verb}")
        answer = await work(self, request)
        await halt(f"after {verb}")
        return answer

    setattr(program.Work, verb, method)


halting("reserve")
halting("publish")
program.main()

"""The daemon killed at the k-th call on the way of a draft that is sent, and of one that is taken back."""

import os
import shutil

from place import until
from scenario import scenario


def swept(part, finish):
    place = part.place()

    def uploaded(name):
        try:
            return place.ledger(
                "SELECT 1 FROM messages m JOIN requests r ON r.id = m.request_id"
                " WHERE r.request = ? AND m.draft = 1 AND m.state = 'uploaded'", name)
        except Exception:
            # The ledger may be in the making, or in the hands of a recovery.
            return False

    def once(k):
        place.begin_anew()
        place.context = f"k={k}"
        draft = place.drop("family", 1, to="draft")
        name = draft["request"]
        # A draft has no text before Send, nor has its client one in mind that takes it back.
        daemon = place.start(**place.killing(k))
        until(lambda: not daemon.is_alive() or uploaded(name), "the draft is not uploaded")
        finish(place, draft, name)
        place.context += f", {name}"
        return part.outlived(place, daemon, k)

    part.sweep(once, cheap=8)


@scenario("daemon killed at every call: a draft that is sent", parts=4)
def sent(part):
    def finish(place, draft, name):
        os.rename(f"{place.spool}/draft/{name}", f"{place.spool}/new/{name}")
        place.note(draft, "accepted", request=name)

    swept(part, finish)


@scenario("daemon killed at every call: a draft that is taken back", parts=4)
def taken(part):
    def finish(place, draft, name):
        shutil.rmtree(f"{place.spool}/draft/{name}")
        place.note(draft, "taken")

    swept(part, finish)

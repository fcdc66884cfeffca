"""`photospool watch` killed at the k-th call, with each fate of a sent file: each photo is published once."""

import glob
import os
import shutil
import subprocess
from pathlib import Path

from load import sweep_up
from place import PHOTOSPOOL, until
from scenario import scenario
from shared import photo


def watch(place, environment):
    return subprocess.Popen(
        [PHOTOSPOOL, "watch"], env={**place.environment, **environment}, cwd=place.path, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@scenario("watch killed at every call: move", parts=1, after="move")
@scenario("watch killed at every call: delete", parts=1, after="delete")
@scenario("watch killed at every call: keep", parts=1, after="keep")
def swept(part, after):
    place = part.place()
    lists = f"{place.path}/.local/state/photospool/watched"

    def once(k):
        place.context = f"k={k}"
        # The conversation tells whose photo it is, which has no text.
        entry = place.begin(f"c{k}", 1, text=None)
        folder = f"{place.path}/hot{k}"
        os.mkdir(folder)
        place.configure(
            f"watch: [{{folder: {folder}, conversation: {entry['conversation']}, after: {after}, quiet: 100ms"
            + (", existing: send" if after == "keep" else "") + "}]\n")
        shutil.copyfile(photo(entry["widths"][0]), f"{folder}/photo.jpg")

        def is_over():
            if after == "keep":
                return any(f"# {folder}\nwatch." in Path(path).read_text() for path in glob.glob(f"{lists}/*.sent"))
            return not [name for name in os.listdir(folder) if name != ".sent"]

        doomed = watch(place, place.killing(k))
        until(lambda: doomed.poll() is not None or is_over(), "the folder is not emptied")
        met = doomed.poll() is not None
        doomed.kill()
        doomed.wait()
        again = watch(place, {})
        until(is_over, "the folder is not emptied after a kill")
        again.kill()
        again.wait()
        place.note(entry, "accepted", request=None)
        return met

    part.sweep(once, cheap=20)
    place.settle()
    sweep_up(place)
    part.judge(place)

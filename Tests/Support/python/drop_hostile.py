"""Drops hostile photos between good ones: `drop_hostile.py SPOOL DIRECTORY GOOD`

Those of DIRECTORY go into eight conversations and GOOD ones into two, some ahead of what is decided. The last of each
conversation is a text: when it is sent, all before it is over. Prints conversation and name of each."""
import collections
import itertools
import os
import shutil
import sys
import time

spool, mutated, good = sys.argv[1:]
waiting = collections.defaultdict(collections.deque)


def is_over(name):
    return os.path.exists(f"{spool}/sent/{name}") or os.path.exists(f"{spool}/failed/{name}")


def drop(conversation, name, photo=None):
    queue, end = waiting[conversation], time.monotonic() + 120
    while len(queue) >= 3:
        while queue and is_over(queue[0]):
            queue.popleft()
        if len(queue) >= 3:
            if time.monotonic() > end:
                sys.exit(f"{queue[0]} is not decided")
            time.sleep(0.002)
    request = f"{spool}/tmp/{name}"
    os.mkdir(request)
    with open(f"{request}/to", "w") as file:
        print(conversation, file=file)
    if photo:
        shutil.copyfile(photo, f"{request}/photo{os.path.splitext(photo)[1]}")
    else:
        with open(f"{request}/text", "w") as file:
            print("the end", file=file)
    os.rename(request, f"{spool}/new/{name}")
    queue.append(name)
    print(conversation, name)


files, goods = sorted(os.listdir(mutated)), itertools.count()
for number, file in enumerate(files):
    drop(f"hostile-{number % 8}", "m" + os.path.splitext(file)[0], f"{mutated}/{file}")
    if number % 20 == 0:
        drop(f"good-{number // 20 % 2}", f"good-{next(goods):05d}", good)
for conversation in list(waiting):
    drop(conversation, f"last-{conversation}")

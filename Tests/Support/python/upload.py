"""Uploads as a camera does, without a password: upload.py HOST PORT ORDER...

    ready                   waits until the server takes connections
    make FOLDER             makes a folder, as cameras do for each day
    whole FILE NAME         the file
    half FILE NAME          its first half; then the connection breaks
    rest FILE NAME          what the server lacks
    renamed FILE NAME NEW   the file, and its last name
    all DIRECTORY FOLDER    all files of a directory, in the order of their names
"""
import ftplib
import os
import socket
import struct
import sys
import time

host, port, order, *words = sys.argv[1:]


def connect():
    server = ftplib.FTP()
    server.connect(host, int(port), timeout=60)
    server.login("anonymous", "camera@cams.home")
    return server


def wait_for(holds):
    end = time.monotonic() + 30
    while not holds():
        if time.monotonic() > end:
            sys.exit("it never came to this")
        time.sleep(0.02)


def listens():
    try:
        connect().quit()
        return True
    except OSError:
        return False


def size_there(server, name):
    server.voidcmd("TYPE I")
    try:
        return server.size(name)
    except ftplib.error_perm:
        return 0


if order == "ready":
    wait_for(listens)
    sys.exit()
server = connect()
if order == "make":
    try:
        server.mkd(words[0])
    except ftplib.error_perm:
        server.cwd(words[0])
    server.quit()
    sys.exit()
if order == "all":
    for name in sorted(os.listdir(words[0])):
        with open(os.path.join(words[0], name), "rb") as file:
            server.storbinary(f"STOR {words[1]}/{name}", file)
    server.quit()
    sys.exit()
size = os.path.getsize(words[0])
with open(words[0], "rb") as file:
    if order == "half":
        server.voidcmd("TYPE I")
        data = server.transfercmd(f"STOR {words[1]}")
        data.sendall(file.read(size // 2))
        folder, name = os.path.split(words[1])
        with connect() as other:
            wait_for(lambda: size_there(other, words[1]) or size_there(other, f"{folder}/.in.{name}."))
        # A reset, which the server cannot take for the end of the file.
        data.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        data.close()
        server.close()
        sys.exit()
    offset = size_there(server, words[1]) if order == "rest" else 0
    file.seek(offset)
    server.storbinary(f"STOR {words[1]}", file, rest=offset or None)
if order == "renamed":
    server.rename(words[1], words[2])
server.quit()

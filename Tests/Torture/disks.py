"""Disks of a scenario's own: file systems in image files, whose power can be cut, and small ones in memory."""

import ctypes
import fcntl
import os
import subprocess
import tempfile

# As diskpoint.c has it: the same on ext4 and XFS.
SHUTDOWN = 0x8004587D
# What an argument of it means: the log reaches the disk and only data is lost, or neither does.
FLUSHED, LOST = 1, 2
KINDS = ("ext4", "xfs")
SIZES = {"ext4": 64 << 20, "xfs": 320 << 20}


class Refused(Exception):
    """This machine lets nobody mount that."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{' '.join(command)}: {done.stderr.strip()}")


def sync(path):
    """Everything on the file system of `path` is on its disk."""
    libc = ctypes.CDLL(None, use_errno=True)
    directory = os.open(path, os.O_RDONLY)
    try:
        if libc.syncfs(directory) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(directory)


class Disk:
    """A mounted file system. It goes when the block ends, however that ends."""

    def __init__(self, kind, options=""):
        if os.geteuid() != 0:
            raise Refused("only root may mount a disk")
        memory = "/dev/shm"
        self.scratch = tempfile.mkdtemp(
            prefix="photospool-disk.", dir=memory if os.access(memory, os.W_OK) else None)
        self.kind, self.options = kind, options
        self.image, self.path = f"{self.scratch}/image", f"{self.scratch}/disk"
        self.is_mounted = False
        os.mkdir(self.path)

    def __enter__(self):
        try:
            if self.kind in SIZES:
                with open(self.image, "wb") as image:
                    image.truncate(SIZES[self.kind])
                run(f"mkfs.{self.kind}", "-q", self.image)
            self.mount()
        except Exception:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.is_mounted:
            # Lazily: what a test that failed left there may still be open.
            subprocess.run(["umount", "-l", self.path], capture_output=True)
        subprocess.run(["rm", "-rf", "--one-file-system", self.scratch])

    def mount(self):
        if self.kind in SIZES:
            run("mount", "-t", self.kind, "-o", ",".join(filter(None, ["loop", self.options])), self.image, self.path)
        else:
            run("mount", "-t", self.kind, "-o", self.options, "none", self.path)
        self.is_mounted = True

    def remount(self, options):
        run("mount", "-o", f"remount,{options}", self.path)

    def cut(self, how):
        """The power goes, unless it has gone already."""
        try:
            directory = os.open(self.path, os.O_RDONLY)
        except OSError:
            return
        try:
            fcntl.ioctl(directory, SHUTDOWN, how.to_bytes(4, "little"))
        except OSError:
            pass
        finally:
            os.close(directory)

    def restart(self):
        """The power comes back: the file system recovers from its log. Nobody may have it open."""
        run("umount", self.path)
        self.is_mounted = False
        self.mount()

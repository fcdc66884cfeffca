"""Disks of a scenario's own: file systems in image files, whose power can be cut, and small ones in memory."""

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import subprocess
import tempfile
import time

# As diskpoint.c has it: the same on ext4 and XFS.
SHUTDOWN = 0x8004587D
# Its arguments: the log reaches the disk and only data is lost, or neither does.
FLUSHED, LOST = 1, 2
KINDS = ("ext4", "xfs")
SIZES = {"ext4": 64 << 20, "xfs": 320 << 20, "btrfs": 128 << 20}


class Refused(Exception):
    """The machine does not allow this mount."""


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise Refused(f"there is no {command[0]}") from None
    if done.returncode:
        raise Refused(f"{' '.join(command)}: {done.stderr.strip()}")


def sync(path):
    """Syncs the whole file system of `path`."""
    libc = ctypes.CDLL(None, use_errno=True)
    directory = os.open(path, os.O_RDONLY)
    try:
        if libc.syncfs(directory) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(directory)


def unmount(path):
    """Retries while the disk is busy: children of a dead daemon, and loop devices, release it a moment later."""
    end = time.monotonic() + 30
    while True:
        try:
            return run("umount", path)
        except Refused as refusal:
            if "busy" not in str(refusal) or time.monotonic() > end:
                raise
        time.sleep(0.05)


class Disk:
    """A mounted file system, removed at the end of the block in any case."""

    def __init__(self, kind, options="", make_options=(), size=None):
        if os.geteuid() != 0:
            raise Refused("only root may mount a disk")
        memory = "/dev/shm"
        self.scratch = tempfile.mkdtemp(
            prefix="photospool-disk.", dir=memory if os.access(memory, os.W_OK) else None)
        self.kind, self.options, self.make_options = kind, options, make_options
        self.size = size or SIZES.get(kind)
        self.image, self.path = f"{self.scratch}/image" if kind in SIZES else None, f"{self.scratch}/disk"
        self.is_mounted = False
        os.mkdir(self.path)

    def __enter__(self):
        try:
            if self.kind in SIZES:
                self.make()
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

    def make(self):
        """The file system, in its image."""
        with open(self.image, "wb") as image:
            image.truncate(self.size)
        run(f"mkfs.{self.kind}", "-q", *self.make_options, self.image)

    def mount(self):
        if self.kind in SIZES:
            run("mount", "-t", self.kind, "-o", ",".join(filter(None, ["loop", self.options])), self.image, self.path)
        else:
            run("mount", "-t", self.kind, "-o", self.options, "none", self.path)
        self.is_mounted = True

    def remount(self, options):
        run("mount", "-o", f"remount,{options}", self.path)

    def cut(self, how):
        """Cuts the power, unless it is off already."""
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

    def unmount(self):
        unmount(self.path)
        self.is_mounted = False

    def lose_power(self, how):
        """Cuts the power, unless it is off already, and restores it."""
        self.cut(how)
        self.restart()

    def restart(self):
        """Restores the power: the file system recovers from its log."""
        self.unmount()
        self.mount()

    def freeze(self):
        """Blocks all writers, which cannot be killed then. A timer thaws the disk if this process dies."""
        self.thawing = subprocess.Popen(
            ["sh", "-c", f"sleep 60; exec fsfreeze --unfreeze {self.path}"], start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("fsfreeze", "--freeze", self.path)

    def thaw(self):
        # The shell's child, too.
        os.killpg(self.thawing.pid, signal.SIGKILL)
        self.thawing.wait()
        subprocess.run(["fsfreeze", "--unfreeze", self.path], capture_output=True)

    def device(self):
        """The name of its loop device."""
        number = os.stat(self.path).st_dev
        return os.path.basename(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))

    def fail(self):
        """Triggers an internal error of ext4; a mount option decides the effect."""
        with open(f"/sys/fs/ext4/{self.device()}/trigger_fs_error", "w") as file:
            file.write("torture")

    def forgive(self):
        """Consumes the pending write error, so that later opens do not see it."""
        with contextlib.suppress(OSError):
            sync(self.path)

    def trim(self):
        """Returns free blocks to the backing storage; nothing to do here."""

    def fill(self):
        """Uses all free bytes."""
        fill(f"{self.path}/ballast")

    def fill_names(self):
        """Uses all free inodes."""
        os.mkdir(f"{self.path}/ballast.d")
        number = 0
        try:
            while True:
                open(f"{self.path}/ballast.d/{number}", "w").close()
                number += 1
        except OSError:
            pass

    def empty(self):
        """Frees the space again."""
        subprocess.run(["rm", "-rf", f"{self.path}/ballast", f"{self.path}/ballast.d"], check=True)

    def is_writable(self):
        """Whether the file system still accepts writes: one that could not write its log stops altogether."""
        try:
            with open(f"{self.path}/probe", "w") as file:
                file.write("probe")
                file.flush()
                os.fsync(file.fileno())
            os.unlink(f"{self.path}/probe")
            return True
        except OSError:
            return False


class ThinDisk(Disk):
    """A disk with fewer blocks than its file system believes: its image lies on another small disk, and a block that
    finds no room there is a write error, even for data that was already reported as written. Metadata of the file
    system has its blocks from the beginning, but the log has not if `log` is false.

    Its image is never cut: a loop device whose image became shorter hangs whoever syncs anything on this machine."""

    def __init__(self, kind, log=True):
        super().__init__(kind, make_options=("-b", "4096") if kind == "ext4" else ())
        self.keeps_log = log
        self.below = f"{self.scratch}/below"
        self.image = f"{self.below}/image"
        os.mkdir(self.below)

    def make(self):
        size = self.size
        run("mount", "-t", "tmpfs", "-o", f"size={size + (4 << 20)}", "none", self.below)
        super().make()
        if self.keeps_log:
            with open(self.image, "r+b") as image:
                os.posix_fallocate(image.fileno(), 0, size)

    def mount(self):
        super().mount()
        # A loop device takes a write of which only the first pages had room for one that succeeded. With one page each
        # there is no such write.
        with open(f"/sys/block/{self.device()}/queue/max_sectors_kb", "w") as limit:
            limit.write("4")
        self.trim()

    def trim(self):
        run("fstrim", self.path)

    def fill(self):
        fill(f"{self.below}/ballast")

    def empty(self):
        if os.path.exists(f"{self.below}/ballast"):
            os.unlink(f"{self.below}/ballast")

    def __exit__(self, *_):
        # Room first: what waits to be written must find its end.
        self.empty()
        if self.is_mounted:
            subprocess.run(["umount", self.path], capture_output=True)
        super().__exit__()
        subprocess.run(["umount", "-l", self.below], capture_output=True)
        subprocess.run(["rm", "-rf", "--one-file-system", self.scratch])


class Overlay(Disk):
    """An overlay of two directories, which reports no changes made directly in the upper one."""

    def __init__(self):
        super().__init__("overlay")
        self.below = f"{self.scratch}/upper"
        for name in ("lower", "upper", "work"):
            os.mkdir(f"{self.scratch}/{name}")
        self.options = f"lowerdir={self.scratch}/lower,upperdir={self.below},workdir={self.scratch}/work"


class Bound(Disk):
    """Another directory through a file system in user space, which reports no changes made past it, has no birth times,
    and lacks RENAME_NOREPLACE."""

    def __init__(self):
        super().__init__("fuse")
        self.below = f"{self.scratch}/below"
        os.mkdir(self.below)

    def mount(self):
        run("bindfs", self.below, self.path)
        self.is_mounted = True


def fill(path):
    """A file that takes all the room there is, to the last byte."""
    with open(path, "wb", buffering=0) as ballast:
        size = 1 << 20
        while size:
            try:
                ballast.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2
